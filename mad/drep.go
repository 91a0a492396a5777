package mad

import "encoding/binary"

const drepFixed = 8

// DREP agrees to a disconnection (section 12.6.11).
type DREP struct {
	Header
	LocalCommID  uint32
	RemoteCommID uint32
	Private      []byte // up to 224 bytes; a view on the datagram
}

// Decode implements Message.
func (m *DREP) Decode(b []byte) error {
	c, err := m.open(b, drepFixed, "DREP")
	if err != nil {
		return err
	}
	m.LocalCommID = binary.BigEndian.Uint32(c)
	m.RemoteCommID = binary.BigEndian.Uint32(c[4:])
	m.Private = c[drepFixed:]
	return nil
}

// Encode implements Message.
func (m *DREP) Encode(b []byte) error {
	c, err := m.create(b, "DREP")
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint32(c, m.LocalCommID)
	binary.BigEndian.PutUint32(c[4:], m.RemoteCommID)
	return fill(c[drepFixed:], m.Private, "DREP")
}
