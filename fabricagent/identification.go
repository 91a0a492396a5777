package fabricagent

import (
	"encoding/binary"

	"ibwitness/packet"
)

// Identified is a packet of RoCEv2 on IPv4, with the identification that its host gave it.
type Identified struct {
	Src    packet.Addr
	DestQP uint32
	ID     uint16
	Opcode packet.Opcode
}

// Identification returns the identification of a packet. Of all frames but RoCEv2 on IPv4, and of those that Ends does not know, the result is false.
func Identification(f *Frame) (p Identified, ok bool) {
	const at = ipv4Size + udpSize + packet.BTHSize
	kind, b := afterEther(f)
	if kind != etherIPv4 || len(b) < at {
		return p, false
	}
	p.Src, _, ok = endsIPv4((*[at]byte)(b))
	bth := b[ipv4Size+udpSize:]
	p.DestQP, p.ID, p.Opcode = binary.BigEndian.Uint32(bth[4:])&0xFFFFFF, binary.BigEndian.Uint16(b[4:]), packet.Opcode(bth[0])
	return p, ok
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
