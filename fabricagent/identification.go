package fabricagent

import (
	"encoding/binary"

	"ibwitness/packet"
)

// Identification returns the source address of a packet of RoCEv2 on IPv4, the identification that its host gave it, and its opcode. Of all other frames, and of those that Ends does not know, the result is false.
func Identification(f *Frame) (src packet.Addr, id uint16, op packet.Opcode, ok bool) {
	const at = ipv4Size + udpSize + packet.BTHSize
	kind, b := afterEther(f)
	if kind != etherIPv4 || len(b) < at {
		return packet.Addr{}, 0, 0, false
	}
	src, _, ok = endsIPv4((*[at]byte)(b))
	return src, binary.BigEndian.Uint16(b[4:]), packet.Opcode(b[ipv4Size+udpSize]), ok
}

// afterEther returns the EtherType of a frame, and what follows it; 0 where Ends does not know its format.
func afterEther(f *Frame) (kind uint16, after []byte) {
	b := f.Data
	switch {
	case f.Link != LinkEthernet:
		return cookedType(f)
	case len(b) <= etherSize:
		return 0, nil
	}
	kind, b = binary.BigEndian.Uint16(b[12:]), b[etherSize:]
	if kind == etherVLAN && len(b) > vlanSize {
		kind, b = binary.BigEndian.Uint16(b[2:]), b[vlanSize:]
	}
	return kind, b
}
