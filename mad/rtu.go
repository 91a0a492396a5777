package mad

import "encoding/binary"

const rtuFixed = 8

// RTU tells the passive side that the active side is ready (section 12.6.9).
type RTU struct {
	Header
	LocalCommID  uint32
	RemoteCommID uint32
	Private      []byte // up to 224 bytes; a view on the datagram
}

// Decode implements Message.
func (m *RTU) Decode(b []byte) error {
	c, err := m.open(b, rtuFixed, "RTU")
	if err != nil {
		return err
	}
	m.LocalCommID = binary.BigEndian.Uint32(c)
	m.RemoteCommID = binary.BigEndian.Uint32(c[4:])
	m.Private = c[rtuFixed:]
	return nil
}

// Encode implements Message.
func (m *RTU) Encode(b []byte) error {
	c, err := m.create(b, "RTU")
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint32(c, m.LocalCommID)
	binary.BigEndian.PutUint32(c[4:], m.RemoteCommID)
	return fill(c[rtuFixed:], m.Private, "RTU")
}
