package packet

import (
	"fmt"
	"time"
)

// Syndrome is byte 0 of the AETH: bit 7 zero, bits 6:5 the type, bits 4:0 the value (tables T3, T4 and T5).
type Syndrome uint8

// SyndromeType is what a syndrome says.
type SyndromeType uint8

// The types, bits 6:5 of the syndrome.
const (
	ACK              SyndromeType = 0
	RNRNAK           SyndromeType = 1
	ReservedSyndrome SyndromeType = 2
	NAK              SyndromeType = 3
)

// The NAK syndromes (table T5).
const (
	NAKSequence       Syndrome = 0x60
	NAKInvalidRequest Syndrome = 0x61
	NAKRemoteAccess   Syndrome = 0x62
	NAKRemoteOp       Syndrome = 0x63
	NAKInvalidRD      Syndrome = 0x64
)

// CreditInvalid is the credit code that means: no end-to-end flow control, no limit.
const CreditInvalid = 31

// Type returns bits 6:5.
func (s Syndrome) Type() SyndromeType { return SyndromeType(s >> 5 & 3) }

// Value returns bits 4:0: a credit code, an RNR timer code or a NAK code.
func (s Syndrome) Value() uint8 { return uint8(s & 0x1F) }

// Reserved reports whether the syndrome must not be sent: bit 7 set, type 2, or a NAK code above 4 (rules RC-RSP-021, RC-RSP-022).
func (s Syndrome) Reserved() bool {
	return s&0x80 != 0 || s.Type() == ReservedSyndrome || s.Type() == NAK && s.Value() > 4
}

// Fatal reports whether the syndrome is a NAK after which both QPs go to the error state.
func (s Syndrome) Fatal() bool { return s >= NAKInvalidRequest && s <= NAKInvalidRD }

var credits = [31]uint32{
	0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768,
	1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
}

// Credits returns the message credits that an ACK grants, and false where it sets no limit (table T3).
func (s Syndrome) Credits() (uint32, bool) {
	if s.Type() != ACK || s.Value() == CreditInvalid {
		return 0, false
	}
	return credits[s.Value()], true
}

// rnrTimers is in units of 10 µs.
var rnrTimers = [32]uint32{
	65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768,
	1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
}

// RNRTimer returns the wait that an RNR NAK timer code demands (table T4).
func RNRTimer(code uint8) time.Duration {
	return time.Duration(rnrTimers[code&31]) * 10 * time.Microsecond
}

// Timeout returns 4.096 µs · 2^code, the unit of the local ACK timeout and of all CM timers (rule RC-TMO-001).
// Code 0 of the local ACK timeout means that the timer is disabled; the caller knows which it has.
func Timeout(code uint8) time.Duration { return 4096 * time.Nanosecond << (code & 31) }

func (s Syndrome) String() string {
	switch {
	case s&0x80 != 0 || s.Type() == ReservedSyndrome:
		return fmt.Sprintf("reserved 0x%02x", uint8(s))
	case s.Type() == ACK && s.Value() == CreditInvalid:
		return "ACK"
	case s.Type() == ACK:
		return fmt.Sprintf("ACK credits %d", credits[s.Value()])
	case s.Type() == RNRNAK:
		return fmt.Sprintf("RNR NAK %v", RNRTimer(s.Value()))
	}
	names := [...]string{"PSN Sequence Error", "Invalid Request", "Remote Access Error", "Remote Operational Error", "Invalid RD Request"}
	if int(s.Value()) < len(names) {
		return "NAK " + names[s.Value()]
	}
	return fmt.Sprintf("NAK reserved code %d", s.Value())
}
