package mad

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Sizes in bytes of the parts of a management datagram (table T10).
const (
	Size       = 256 // of every MAD
	HeaderSize = 24
)

// The errors of decoding and encoding, wrapped with the name of the message.
var (
	// ErrShort means that the bytes end before the fields of the message do.
	ErrShort = errors.New("fewer bytes than the message has; give the whole 256-byte datagram")
	// ErrLong means that private data or additional information does not fit its area.
	ErrLong = errors.New("more private data or additional information than the message has room for")
)

// Class is a management class (table T10).
type Class uint8

// The classes that this package knows by name.
const (
	ClassSubnetLID      Class = 0x01
	ClassSubnetAdmin    Class = 0x03
	ClassPerformance    Class = 0x04
	ClassBoard          Class = 0x05
	ClassDevice         Class = 0x06
	ClassCM             Class = 0x07
	ClassSNMP           Class = 0x08
	ClassCongestion     Class = 0x21
	ClassSubnetDirected Class = 0x81
)

func (c Class) String() string {
	switch c {
	case ClassSubnetLID:
		return "subnet (LID routed)"
	case ClassSubnetDirected:
		return "subnet (directed route)"
	case ClassSubnetAdmin:
		return "subnet administration"
	case ClassPerformance:
		return "performance"
	case ClassBoard:
		return "baseboard"
	case ClassDevice:
		return "device management"
	case ClassCM:
		return "CM"
	case ClassSNMP:
		return "SNMP"
	case ClassCongestion:
		return "congestion control"
	}
	return fmt.Sprintf("class 0x%02x", uint8(c))
}

// Method is what a MAD asks or answers; bit 7 is the R bit, a response (table T10).
type Method uint8

// The methods that all classes share; those of subnet administration are in sa.go.
const (
	Get         Method = 0x01
	Set         Method = 0x02
	Send        Method = 0x03
	Trap        Method = 0x05
	Report      Method = 0x06
	TrapRepress Method = 0x07
	GetResp     Method = 0x81
	ReportResp  Method = 0x86
)

func (m Method) String() string {
	switch m {
	case Get:
		return "Get"
	case Set:
		return "Set"
	case Send:
		return "Send"
	case Trap:
		return "Trap"
	case Report:
		return "Report"
	case TrapRepress:
		return "TrapRepress"
	case GetResp:
		return "GetResp"
	case ReportResp:
		return "ReportResp"
	}
	if name := saMethods[m]; name != "" {
		return name
	}
	return fmt.Sprintf("method 0x%02x", uint8(m))
}

// Header is the header that all MADs share (table T10). Reserved fields are kept, since rules judge them.
type Header struct {
	BaseVersion   uint8
	Class         Class
	ClassVersion  uint8
	Method        Method
	Status        uint16
	ClassSpecific uint16
	TID           uint64
	Attribute     Attribute
	Reserved      uint16
	Modifier      uint32
}

// DecodeHeader reads the header of a MAD; b may be cut anywhere after its 24 bytes.
func DecodeHeader(b []byte, h *Header) error {
	if len(b) < HeaderSize {
		return fmt.Errorf("mad: header: %w", ErrShort)
	}
	h.get(b)
	return nil
}

// Encode writes the header into a MAD, of which b may be the beginning. The error wraps ErrShort.
func (h *Header) Encode(b []byte) error {
	if len(b) < HeaderSize {
		return fmt.Errorf("mad: header: %w", ErrShort)
	}
	h.put(b)
	return nil
}

// CMHeader is the header of a message of the communication manager (rules CM-FMT-001, CM-FMT-005).
func CMHeader(a Attribute, tid uint64) Header {
	return Header{BaseVersion: 1, Class: ClassCM, ClassVersion: 2, Method: Send, TID: tid, Attribute: a}
}

func (h *Header) get(b []byte) {
	_ = b[HeaderSize-1]
	h.BaseVersion = b[0]
	h.Class = Class(b[1])
	h.ClassVersion = b[2]
	h.Method = Method(b[3])
	h.Status = binary.BigEndian.Uint16(b[4:])
	h.ClassSpecific = binary.BigEndian.Uint16(b[6:])
	h.TID = binary.BigEndian.Uint64(b[8:])
	h.Attribute = Attribute(binary.BigEndian.Uint16(b[16:]))
	h.Reserved = binary.BigEndian.Uint16(b[18:])
	h.Modifier = binary.BigEndian.Uint32(b[20:])
}

func (h *Header) put(b []byte) {
	b[0] = h.BaseVersion
	b[1] = uint8(h.Class)
	b[2] = h.ClassVersion
	b[3] = uint8(h.Method)
	binary.BigEndian.PutUint16(b[4:], h.Status)
	binary.BigEndian.PutUint16(b[6:], h.ClassSpecific)
	binary.BigEndian.PutUint64(b[8:], h.TID)
	binary.BigEndian.PutUint16(b[16:], uint16(h.Attribute))
	binary.BigEndian.PutUint16(b[18:], h.Reserved)
	binary.BigEndian.PutUint32(b[20:], h.Modifier)
}

// open reads the header and returns the message area, as far as b goes, when it holds at least the fixed fields.
func (h *Header) open(b []byte, fixed int, name string) ([]byte, error) {
	if len(b) < HeaderSize+fixed {
		return nil, fmt.Errorf("mad: %s: %w", name, ErrShort)
	}
	h.get(b)
	return b[HeaderSize:min(len(b), Size)], nil
}

// create clears the 256 bytes of b, writes the header and returns the message area.
func (h *Header) create(b []byte, name string) ([]byte, error) {
	if len(b) < Size {
		return nil, fmt.Errorf("mad: %s: %w", name, ErrShort)
	}
	clear(b[:Size])
	h.put(b)
	return b[HeaderSize:Size], nil
}

// fill copies private data or additional information into the area that the message has for it.
func fill(room, from []byte, name string) error {
	if len(from) > len(room) {
		return fmt.Errorf("mad: %s: %w", name, ErrLong)
	}
	copy(room, from)
	return nil
}

func get24(b []byte) uint32 { return uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2]) }

func put24(b []byte, v uint32) { b[0], b[1], b[2] = uint8(v>>16), uint8(v>>8), uint8(v) }

func bit(v bool) uint8 {
	if v {
		return 1
	}
	return 0
}

// Subnet reports whether a class is one of subnet management.
func (c Class) Subnet() bool { return c == ClassSubnetLID || c == ClassSubnetDirected }

// ClassOf returns the management class of a datagram, byte 1 of its payload b (table T9), or 0 where that is shorter.
func ClassOf(b []byte) uint8 {
	if len(b) < 2 {
		return 0
	}
	return b[1]
}
