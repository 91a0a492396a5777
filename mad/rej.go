package mad

import (
	"encoding/binary"
	"fmt"
)

// RejReason is why a REJ was sent (section 12.6.7.2, table T9).
type RejReason uint16

// The reasons that the code names; RejReason.String knows all.
const (
	RejNoQP           RejReason = 1
	RejNoResources    RejReason = 3
	RejTimeout        RejReason = 4
	RejUnsupported    RejReason = 5
	RejInvalidCommID  RejReason = 6
	RejInvalidService RejReason = 8
	RejStale          RejReason = 10
	RejConsumer       RejReason = 28
)

var rejReasons = [...]string{
	1: "no QP available", 2: "no EEC available", 3: "no resources available", 4: "timeout", 5: "unsupported request",
	6: "invalid communication ID", 7: "invalid communication instance", 8: "invalid service ID", 9: "invalid transport service type",
	10: "stale connection", 11: "RDC does not exist", 12: "primary remote port GID rejected", 13: "primary remote port LID rejected",
	14: "invalid primary SL", 15: "invalid primary traffic class", 16: "invalid primary hop limit", 17: "invalid primary packet rate",
	18: "alternate remote port GID rejected", 19: "alternate remote port LID rejected", 20: "invalid alternate SL",
	21: "invalid alternate traffic class", 22: "invalid alternate hop limit", 23: "invalid alternate packet rate",
	24: "port and CM redirection", 25: "port redirection", 26: "invalid path MTU", 27: "insufficient responder resources",
	28: "consumer reject", 29: "RNR retry count rejected", 30: "duplicate local communication ID",
	31: "unsupported class version", 32: "invalid primary flow label", 33: "invalid alternate flow label", 35: "vendor option not supported",
}

// Defined reports whether the reason is one of table T9 (rule CM-REJ-001).
func (r RejReason) Defined() bool { return int(r) < len(rejReasons) && rejReasons[r] != "" }

func (r RejReason) String() string {
	if r.Defined() {
		return rejReasons[r]
	}
	return fmt.Sprintf("reserved reason %d", uint16(r))
}

const (
	rejFixed  = 84
	rejInfo   = 12
	maxInfo   = 72
	infoLimit = rejInfo + maxInfo
)

// REJ ends an exchange before, or takes back, a connection (section 12.6.7).
type REJ struct {
	Header
	LocalCommID  uint32 // 0 if the sender had not chosen one
	RemoteCommID uint32
	Rejected     Answered
	InfoLength   uint8 // 7 bits: bytes of Info that mean something
	Reason       RejReason
	Info         []byte // 72 bytes of additional reject information; a view on the datagram
	Private      []byte // up to 148 bytes; a view on the datagram
	Reserved1    uint8  // 6 bits
	Reserved2    uint8  // 1 bit
}

// Decode implements Message.
func (m *REJ) Decode(b []byte) error {
	c, err := m.open(b, rejFixed, "REJ")
	if err != nil {
		return err
	}
	m.LocalCommID = binary.BigEndian.Uint32(c)
	m.RemoteCommID = binary.BigEndian.Uint32(c[4:])
	m.Rejected = Answered(c[8] >> 6)
	m.Reserved1 = c[8] & 0x3F
	m.InfoLength = c[9] >> 1
	m.Reserved2 = c[9] & 1
	m.Reason = RejReason(binary.BigEndian.Uint16(c[10:]))
	m.Info = c[rejInfo:infoLimit]
	m.Private = c[rejFixed:]
	return nil
}

// Encode implements Message.
func (m *REJ) Encode(b []byte) error {
	c, err := m.create(b, "REJ")
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint32(c, m.LocalCommID)
	binary.BigEndian.PutUint32(c[4:], m.RemoteCommID)
	c[8] = uint8(m.Rejected)<<6 | m.Reserved1&0x3F
	c[9] = m.InfoLength<<1 | m.Reserved2&1
	binary.BigEndian.PutUint16(c[10:], uint16(m.Reason))
	if err := fill(c[rejInfo:infoLimit], m.Info, "REJ"); err != nil {
		return err
	}
	return fill(c[rejFixed:], m.Private, "REJ")
}
