//go:build !amd64

package packet

const direct, pairwise, wide = false, false, false

func directly(*byte, int) uint32 { panic("packet: not on this processor") }

func icrcIPv4(*byte, int) uint32 { panic("packet: not on this processor") }

func icrcPairs(*byte, int) uint32 { panic("packet: not on this processor") }

func icrcWide(*byte, int) uint32 { panic("packet: not on this processor") }
