package mad

import (
	"encoding/binary"
	"fmt"
)

// Offsets of the parts of an SMP in the datagram (sections 14.2.1.1 and 14.2.1.2).
const (
	SMPData     = 64 // the attribute
	SMPDataSize = 64

	smpKey     = 24
	smpLIDs    = 32 // DrSLID and DrDLID of a directed route
	smpInitial = 128
	smpReturn  = 192
	pathSize   = 64
)

// MaxHops is the greatest hop count of a directed route (C14-6).
const MaxHops = 63

// directionBit is the D bit of a directed-route SMP, in the place of the upper bit of its status: set on the way back.
const directionBit = 0x8000

// SMP is a subnet management packet, LID routed or on a directed route. Data, Initial and Return are views on the datagram.
type SMP struct {
	Header
	MKey uint64
	Data []byte // the attribute, 64 bytes

	// Of a directed route.
	DrSLID  uint16
	DrDLID  uint16
	Initial []byte // 64 port numbers, the first unused
	Return  []byte
}

// Directed reports whether the class is that of directed routes.
func (s *SMP) Directed() bool { return s.Class == ClassSubnetDirected }

// Backward is the D bit of a directed route: the SMP is on its way back.
func (s *SMP) Backward() bool { return s.Directed() && s.Header.Status&directionBit != 0 }

// Code is the status, without the D bit of a directed route.
func (s *SMP) Code() Status {
	if s.Directed() {
		return Status(s.Header.Status &^ directionBit)
	}
	return Status(s.Header.Status)
}

// HopPointer is the number of the hop of a directed route.
func (s *SMP) HopPointer() int { return int(s.ClassSpecific >> 8) }

// HopCount is how many hops the directed route has.
func (s *SMP) HopCount() int { return int(s.ClassSpecific & 0xFF) }

// SetHops sets pointer and count of a directed route.
func (s *SMP) SetHops(pointer, count int) { s.ClassSpecific = uint16(pointer)<<8 | uint16(count)&0xFF }

// Decode reads an SMP without allocating. The error wraps ErrShort.
func (s *SMP) Decode(b []byte) error {
	if len(b) < Size {
		return fmt.Errorf("mad: SMP: %w", ErrShort)
	}
	s.get(b)
	s.MKey = binary.BigEndian.Uint64(b[smpKey:])
	s.Data = b[SMPData : SMPData+SMPDataSize : SMPData+SMPDataSize]
	s.DrSLID, s.DrDLID, s.Initial, s.Return = 0, 0, nil, nil
	if s.Directed() {
		s.DrSLID = binary.BigEndian.Uint16(b[smpLIDs:])
		s.DrDLID = binary.BigEndian.Uint16(b[smpLIDs+2:])
		s.Initial = b[smpInitial : smpInitial+pathSize : smpInitial+pathSize]
		s.Return = b[smpReturn:Size:Size]
	}
	return nil
}

// Encode writes all 256 bytes of the SMP; b must not be what it has views on. The error wraps ErrShort or ErrLong.
func (s *SMP) Encode(b []byte) error {
	if len(b) < Size {
		return fmt.Errorf("mad: SMP: %w", ErrShort)
	}
	clear(b[:Size])
	s.put(b)
	binary.BigEndian.PutUint64(b[smpKey:], s.MKey)
	if s.Directed() {
		binary.BigEndian.PutUint16(b[smpLIDs:], s.DrSLID)
		binary.BigEndian.PutUint16(b[smpLIDs+2:], s.DrDLID)
		if err := fill(b[smpInitial:smpInitial+pathSize], s.Initial, "SMP"); err != nil {
			return err
		}
		if err := fill(b[smpReturn:Size], s.Return, "SMP"); err != nil {
			return err
		}
	}
	return fill(b[SMPData:SMPData+SMPDataSize], s.Data, "SMP")
}

// SMPReserved returns the first byte of a datagram that an SMP of this class has reserved, and that is not 0; or 0. The two bytes of the
// header are not among them.
func SMPReserved(c Class, b []byte) int {
	from, end := smpLIDs, Size
	if c == ClassSubnetDirected {
		from, end = smpLIDs+4, smpInitial
	}
	for i := from; i < min(end, len(b)); i++ {
		if b[i] != 0 && (i < SMPData || i >= SMPData+SMPDataSize) {
			return i
		}
	}
	return 0
}
