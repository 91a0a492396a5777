package mad

import (
	"encoding/binary"

	"ibwitness/packet"
)

// PathSize is the size in bytes of a path in a REQ.
const PathSize = 44

// PermissiveLID is in the LID fields of a path that leaves the subnet, and on RoCE (rule CM-REQ-009).
const PermissiveLID = 0xFFFF

// Path is one path of a REQ, seen from its sender (section 12.7.9 and following).
type Path struct {
	LocalLID        uint16
	RemoteLID       uint16
	LocalGID        packet.Addr
	RemoteGID       packet.Addr
	FlowLabel       uint32 // 20 bits
	Rate            uint8  // 6 bits
	TClass          uint8
	HopLimit        uint8
	SL              uint8 // 4 bits
	SubnetLocal     bool
	LocalAckTimeout uint8 // 5 bits, 4.096 µs · 2^code: how long the receiver of the REQ waits for ACKs of its sender

	Reserved1 uint8 // 6 bits, before Rate
	Reserved2 uint8 // 3 bits, after SubnetLocal
	Reserved3 uint8 // 3 bits, after LocalAckTimeout; the first of the alternate path says that SAP is supported
}

// IsZero reports whether there is no such path: a REQ without alternate path has zeros there (rule CM-REQ-011).
func (p *Path) IsZero() bool { return *p == Path{} }

func (p *Path) get(b []byte) {
	_ = b[PathSize-1]
	p.LocalLID = binary.BigEndian.Uint16(b)
	p.RemoteLID = binary.BigEndian.Uint16(b[2:])
	p.LocalGID = packet.GIDAddr(b[4:])
	p.RemoteGID = packet.GIDAddr(b[20:])
	p.FlowLabel, p.Reserved1, p.Rate = getFlow(b[36:])
	p.TClass = b[40]
	p.HopLimit = b[41]
	p.SL = b[42] >> 4
	p.SubnetLocal = b[42]&8 != 0
	p.Reserved2 = b[42] & 7
	p.LocalAckTimeout = b[43] >> 3
	p.Reserved3 = b[43] & 7
}

func (p *Path) put(b []byte) {
	binary.BigEndian.PutUint16(b, p.LocalLID)
	binary.BigEndian.PutUint16(b[2:], p.RemoteLID)
	putGID(b[4:], p.LocalGID)
	putGID(b[20:], p.RemoteGID)
	binary.BigEndian.PutUint32(b[36:], p.FlowLabel<<12|uint32(p.Reserved1&0x3F)<<6|uint32(p.Rate&0x3F))
	b[40] = p.TClass
	b[41] = p.HopLimit
	b[42] = p.SL<<4 | bit(p.SubnetLocal)<<3 | p.Reserved2&7
	b[43] = p.LocalAckTimeout<<3 | p.Reserved3&7
}

// getFlow reads a flow label of 20 bits, 6 reserved bits and a rate of 6 bits.
func getFlow(b []byte) (label uint32, reserved, rate uint8) {
	v := binary.BigEndian.Uint32(b)
	return v >> 12, uint8(v >> 6 & 0x3F), uint8(v & 0x3F)
}

func putGID(b []byte, a packet.Addr) {
	binary.BigEndian.PutUint64(b, a.Hi)
	binary.BigEndian.PutUint64(b[8:], a.Lo)
}
