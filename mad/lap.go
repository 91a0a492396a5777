package mad

import (
	"encoding/binary"

	"ibwitness/packet"
)

const lapFixed = 64

// LAP proposes an alternate path for an established connection (section 12.8.1).
type LAP struct {
	Header
	LocalCommID     uint32
	RemoteCommID    uint32
	RemoteQPN       uint32
	RemoteCMTimeout uint8 // 5 bits
	LocalLID        uint16
	RemoteLID       uint16
	LocalGID        packet.Addr
	RemoteGID       packet.Addr
	FlowLabel       uint32 // 20 bits
	TClass          uint8
	HopLimit        uint8
	Rate            uint8 // 6 bits
	SL              uint8 // 4 bits
	SubnetLocal     bool
	LocalAckTimeout uint8  // 5 bits
	Private         []byte // up to 168 bytes; a view on the datagram

	Reserved1 uint32
	Reserved2 uint8 // 3 bits, after RemoteCMTimeout
	Reserved3 uint32
	Reserved4 uint8 // 4 bits, after FlowLabel
	Reserved5 uint8 // 2 bits, before Rate
	Reserved6 uint8 // 3 bits, after SubnetLocal
	Reserved7 uint8 // 3 bits, after LocalAckTimeout
}

// Decode implements Message.
func (m *LAP) Decode(b []byte) error {
	c, err := m.open(b, lapFixed, "LAP")
	if err != nil {
		return err
	}
	m.LocalCommID = binary.BigEndian.Uint32(c)
	m.RemoteCommID = binary.BigEndian.Uint32(c[4:])
	m.Reserved1 = binary.BigEndian.Uint32(c[8:])
	m.RemoteQPN = get24(c[12:])
	m.RemoteCMTimeout = c[15] >> 3
	m.Reserved2 = c[15] & 7
	m.Reserved3 = binary.BigEndian.Uint32(c[16:])
	m.LocalLID = binary.BigEndian.Uint16(c[20:])
	m.RemoteLID = binary.BigEndian.Uint16(c[22:])
	m.LocalGID = packet.GIDAddr(c[24:])
	m.RemoteGID = packet.GIDAddr(c[40:])
	m.FlowLabel = get24(c[56:]) >> 4
	m.Reserved4 = c[58] & 0xF
	m.TClass = c[59]
	m.HopLimit = c[60]
	m.Reserved5 = c[61] >> 6
	m.Rate = c[61] & 0x3F
	m.SL = c[62] >> 4
	m.SubnetLocal = c[62]&8 != 0
	m.Reserved6 = c[62] & 7
	m.LocalAckTimeout = c[63] >> 3
	m.Reserved7 = c[63] & 7
	m.Private = c[lapFixed:]
	return nil
}

// Encode implements Message.
func (m *LAP) Encode(b []byte) error {
	c, err := m.create(b, "LAP")
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint32(c, m.LocalCommID)
	binary.BigEndian.PutUint32(c[4:], m.RemoteCommID)
	binary.BigEndian.PutUint32(c[8:], m.Reserved1)
	put24(c[12:], m.RemoteQPN)
	c[15] = m.RemoteCMTimeout<<3 | m.Reserved2&7
	binary.BigEndian.PutUint32(c[16:], m.Reserved3)
	binary.BigEndian.PutUint16(c[20:], m.LocalLID)
	binary.BigEndian.PutUint16(c[22:], m.RemoteLID)
	putGID(c[24:], m.LocalGID)
	putGID(c[40:], m.RemoteGID)
	put24(c[56:], m.FlowLabel<<4|uint32(m.Reserved4&0xF))
	c[59] = m.TClass
	c[60] = m.HopLimit
	c[61] = m.Reserved5<<6 | m.Rate&0x3F
	c[62] = m.SL<<4 | bit(m.SubnetLocal)<<3 | m.Reserved6&7
	c[63] = m.LocalAckTimeout<<3 | m.Reserved7&7
	return fill(c[lapFixed:], m.Private, "LAP")
}
