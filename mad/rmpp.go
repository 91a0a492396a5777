package mad

import (
	"encoding/binary"
	"fmt"
)

// RMPPType is what a packet of the reliable multi-packet protocol is (table T10).
type RMPPType uint8

// The types.
const (
	RMPPNone  RMPPType = 0
	RMPPData  RMPPType = 1
	RMPPAck   RMPPType = 2
	RMPPStop  RMPPType = 3
	RMPPAbort RMPPType = 4
)

func (t RMPPType) String() string {
	if int(t) < 5 {
		return [...]string{"none", "DATA", "ACK", "STOP", "ABORT"}[t]
	}
	return fmt.Sprintf("type %d", uint8(t))
}

// The flags of RMPP.
const (
	RMPPActive = 1 << iota
	RMPPFirst
	RMPPLast
)

// RMPPStatus says why a transfer is stopped or aborted (table T10).
type RMPPStatus uint8

// The codes that name a fault of the peer.
const (
	RMPPNormal    RMPPStatus = 0
	RMPPResources RMPPStatus = 1 // STOP
	RMPPTimeout   RMPPStatus = 118
	RMPPLast119   RMPPStatus = 119 // inconsistent Last flag and payload length
	RMPPFirst120  RMPPStatus = 120 // inconsistent First flag and segment number
	RMPPBadType   RMPPStatus = 121
	RMPPWindow    RMPPStatus = 122
	RMPPSegment   RMPPStatus = 123
	RMPPBadStatus RMPPStatus = 124
	RMPPVersion   RMPPStatus = 125
	RMPPRetries   RMPPStatus = 126
	RMPPOther     RMPPStatus = 127
)

var rmppAborts = [...]string{
	"total time too long", "inconsistent Last flag and payload length", "inconsistent First flag and segment number", "bad RMPP type",
	"new window last too small", "segment number too big", "illegal status", "unsupported version", "too many retries", "unspecified",
}

// Fits reports whether a packet of type t may carry the status (rule MAD-RMP-008).
func (s RMPPStatus) Fits(t RMPPType) bool {
	switch t {
	case RMPPStop:
		return s == RMPPResources
	case RMPPAbort:
		return s >= RMPPTimeout && s <= RMPPOther
	}
	return s == RMPPNormal
}

func (s RMPPStatus) String() string {
	switch {
	case s == RMPPNormal:
		return "normal"
	case s == RMPPResources:
		return "resources exhausted"
	case s >= RMPPTimeout && s <= RMPPOther:
		return rmppAborts[s-RMPPTimeout]
	}
	return fmt.Sprintf("status %d", uint8(s))
}

// Sizes in bytes of what RMPP adds to a datagram.
const (
	RMPPSize = 12                           // of the header, after that of the MAD
	RMPPRoom = Size - HeaderSize - RMPPSize // of class header and data in a segment: 220
)

// RMPP is the header of the reliable multi-packet protocol, bytes 24 to 35 of a MAD (table T15).
type RMPP struct {
	Version      uint8
	Type         RMPPType
	RespTime     uint8 // 5 bits
	Flags        uint8 // 3 bits: RMPPActive, RMPPFirst, RMPPLast
	Status       RMPPStatus
	Data1, Data2 uint32 // DATA: segment number, payload length; ACK: segment number, NewWindowLast
}

// Active reports whether the MAD is part of a transfer.
func (r *RMPP) Active() bool { return r.Flags&RMPPActive != 0 }

// HasRMPP reports whether the datagrams of a class have an RMPP header: subnet administration, device administration, BIS and vendor range 2.
func HasRMPP(c Class) bool {
	return c == ClassSubnetAdmin || c == 0x10 || c == 0x12 || c >= 0x30 && c <= 0x4F
}

// Decode reads the header from a whole MAD. The error wraps ErrShort.
func (r *RMPP) Decode(b []byte) error {
	if len(b) < HeaderSize+RMPPSize {
		return fmt.Errorf("mad: RMPP header: %w", ErrShort)
	}
	h := b[HeaderSize : HeaderSize+RMPPSize]
	*r = RMPP{
		Version: h[0], Type: RMPPType(h[1]), RespTime: h[2] >> 3, Flags: h[2] & 7, Status: RMPPStatus(h[3]),
		Data1: binary.BigEndian.Uint32(h[4:]), Data2: binary.BigEndian.Uint32(h[8:]),
	}
	return nil
}

// Encode writes the header into a whole MAD. The error wraps ErrShort.
func (r *RMPP) Encode(b []byte) error {
	if len(b) < HeaderSize+RMPPSize {
		return fmt.Errorf("mad: RMPP header: %w", ErrShort)
	}
	h := b[HeaderSize : HeaderSize+RMPPSize]
	h[0], h[1], h[2], h[3] = r.Version, uint8(r.Type), r.RespTime<<3|r.Flags&7, uint8(r.Status)
	binary.BigEndian.PutUint32(h[4:], r.Data1)
	binary.BigEndian.PutUint32(h[8:], r.Data2)
	return nil
}
