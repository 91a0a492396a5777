package mad

import "encoding/binary"

// Answered says which message an MRA or REJ answers.
type Answered uint8

// The messages that an MRA or REJ answers: for an MRA the third is a LAP, for a REJ anything or nothing.
const (
	AnsweredREQ   Answered = 0
	AnsweredREP   Answered = 1
	AnsweredOther Answered = 2
)

const mraFixed = 10

// MRA asks for patience: the answer to a REQ, REP or LAP takes longer (section 12.6.6).
type MRA struct {
	Header
	LocalCommID    uint32
	RemoteCommID   uint32
	Answered       Answered
	ServiceTimeout uint8  // 5 bits
	Private        []byte // up to 222 bytes; a view on the datagram
	Reserved1      uint8  // 6 bits
	Reserved2      uint8  // 3 bits
}

// Decode implements Message.
func (m *MRA) Decode(b []byte) error {
	c, err := m.open(b, mraFixed, "MRA")
	if err != nil {
		return err
	}
	m.LocalCommID = binary.BigEndian.Uint32(c)
	m.RemoteCommID = binary.BigEndian.Uint32(c[4:])
	m.Answered = Answered(c[8] >> 6)
	m.Reserved1 = c[8] & 0x3F
	m.ServiceTimeout = c[9] >> 3
	m.Reserved2 = c[9] & 7
	m.Private = c[mraFixed:]
	return nil
}

// Encode implements Message.
func (m *MRA) Encode(b []byte) error {
	c, err := m.create(b, "MRA")
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint32(c, m.LocalCommID)
	binary.BigEndian.PutUint32(c[4:], m.RemoteCommID)
	c[8] = uint8(m.Answered)<<6 | m.Reserved1&0x3F
	c[9] = m.ServiceTimeout<<3 | m.Reserved2&7
	return fill(c[mraFixed:], m.Private, "MRA")
}
