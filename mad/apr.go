package mad

import (
	"encoding/binary"
	"fmt"
)

// APRStatus is the outcome of a LAP (section 12.8.2, table T9).
type APRStatus uint8

var aprStatuses = [...]string{
	"accepted", "invalid communication ID", "alternate paths not supported", "rejected", "redirected", "alternate path is the current one",
	"invalid QPN or EECN", "invalid LID", "invalid GID", "invalid flow label", "invalid traffic class", "invalid hop limit",
	"invalid packet rate", "invalid SL",
}

// Defined reports whether the status is one of table T9.
func (s APRStatus) Defined() bool { return int(s) < len(aprStatuses) }

func (s APRStatus) String() string {
	if s.Defined() {
		return aprStatuses[s]
	}
	return fmt.Sprintf("reserved status %d", uint8(s))
}

const (
	aprFixed = 84
	aprInfo  = 12
)

// APR answers a LAP (section 12.8.2).
type APR struct {
	Header
	LocalCommID  uint32
	RemoteCommID uint32
	InfoLength   uint8 // bytes of Info that mean something
	Status       APRStatus
	Info         []byte // 72 bytes of additional information; a view on the datagram
	Private      []byte // up to 148 bytes; a view on the datagram
	Reserved     uint16
}

// Decode implements Message.
func (m *APR) Decode(b []byte) error {
	c, err := m.open(b, aprFixed, "APR")
	if err != nil {
		return err
	}
	m.LocalCommID = binary.BigEndian.Uint32(c)
	m.RemoteCommID = binary.BigEndian.Uint32(c[4:])
	m.InfoLength = c[8]
	m.Status = APRStatus(c[9])
	m.Reserved = binary.BigEndian.Uint16(c[10:])
	m.Info = c[aprInfo:aprFixed]
	m.Private = c[aprFixed:]
	return nil
}

// Encode implements Message.
func (m *APR) Encode(b []byte) error {
	c, err := m.create(b, "APR")
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint32(c, m.LocalCommID)
	binary.BigEndian.PutUint32(c[4:], m.RemoteCommID)
	c[8] = m.InfoLength
	c[9] = uint8(m.Status)
	binary.BigEndian.PutUint16(c[10:], m.Reserved)
	if err := fill(c[aprInfo:aprFixed], m.Info, "APR"); err != nil {
		return err
	}
	return fill(c[aprFixed:], m.Private, "APR")
}
