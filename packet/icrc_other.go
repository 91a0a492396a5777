//go:build !amd64

package packet

const direct = false

var wide = false

func icrcIPv4(*byte, int) uint32 { panic("packet: not on this processor") }
