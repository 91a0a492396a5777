package mad

import "encoding/binary"

const dreqFixed = 12

// DREQ disconnects (section 12.6.10). Either side may send it, and both may at once.
type DREQ struct {
	Header
	LocalCommID  uint32
	RemoteCommID uint32
	RemoteQPN    uint32 // QPN of the receiver; its EECN on RD
	Private      []byte // up to 220 bytes; a view on the datagram
	Reserved     uint8
}

// Decode implements Message.
func (m *DREQ) Decode(b []byte) error {
	c, err := m.open(b, dreqFixed, "DREQ")
	if err != nil {
		return err
	}
	m.LocalCommID = binary.BigEndian.Uint32(c)
	m.RemoteCommID = binary.BigEndian.Uint32(c[4:])
	m.RemoteQPN = get24(c[8:])
	m.Reserved = c[11]
	m.Private = c[dreqFixed:]
	return nil
}

// Encode implements Message.
func (m *DREQ) Encode(b []byte) error {
	c, err := m.create(b, "DREQ")
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint32(c, m.LocalCommID)
	binary.BigEndian.PutUint32(c[4:], m.RemoteCommID)
	put24(c[8:], m.RemoteQPN)
	c[11] = m.Reserved
	return fill(c[dreqFixed:], m.Private, "DREQ")
}
