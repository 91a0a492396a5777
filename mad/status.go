package mad

import (
	"fmt"
	"strconv"
)

// Status is the outcome that a response carries (table T10). In a directed-route SMP bit 15 is the direction, not part of it.
type Status uint16

// The parts of a status.
const (
	StatusBusy     Status = 1 << 0
	StatusRedirect Status = 1 << 1

	StatusVersion   Status = 1 << 2 // the codes in bits 4:2
	StatusMethod    Status = 2 << 2
	StatusAttribute Status = 3 << 2
	StatusValue     Status = 7 << 2

	statusReserved Status = 0x80E0
)

// The codes of subnet administration, in bits 14:8.
const (
	SANoResources  Status = 0x0100
	SAInvalid      Status = 0x0200
	SANoRecords    Status = 0x0300
	SATooMany      Status = 0x0400
	SABadGID       Status = 0x0500
	SAInsufficient Status = 0x0600
	SADenied       Status = 0x0700
	SAPriority     Status = 0x0800
)

var codes = [...]string{
	"", "unsupported version", "unsupported method", "unsupported method for the attribute", "", "", "", "invalid value in the attribute or its modifier",
}

var saCodes = [...]string{
	"", "no resources", "request invalid", "no records", "too many records", "invalid GID", "insufficient components", "denied", "priority suggested",
}

// Code is the common code of bits 4:2, in place.
func (s Status) Code() Status { return s & 0x1C }

// Specific is the part that the class defines, bits 14:8, in place.
func (s Status) Specific() Status { return s & 0x7F00 }

// Defined reports whether the reserved bits are clear and the common code is one of table T10 (rule MAD-STS-001).
func (s Status) Defined() bool {
	return s&statusReserved == 0 && (s.Code() == 0 || codes[s.Code()>>2] != "")
}

// DefinedBySA reports whether the class-specific part is one of subnet administration (rule MAD-SA-009).
func (s Status) DefinedBySA() bool { return int(s.Specific()>>8) < len(saCodes) }

// Text names the parts of the status of a MAD of a class.
func (s Status) Text(c Class) string {
	if s == 0 {
		return "status 0"
	}
	var room [128]byte // so that only the result is allocated
	b := fmt.Appendf(room[:0], "status 0x%04x (", uint16(s))
	begin := len(b)
	part := func(name string) {
		if len(b) > begin {
			b = append(b, ", "...)
		}
		b = append(b, name...)
	}
	if s&StatusBusy != 0 {
		part("busy")
	}
	if s&StatusRedirect != 0 {
		part("redirect")
	}
	if n := s.Code() >> 2; codes[n] != "" {
		part(codes[n])
	} else if n != 0 {
		part("reserved code ")
		b = strconv.AppendUint(b, uint64(n), 10)
	}
	if s&statusReserved != 0 {
		part("reserved bits")
	}
	if n := s.Specific() >> 8; c == ClassSubnetAdmin && int(n) < len(saCodes) && n > 0 {
		part(saCodes[n])
	} else if n > 0 {
		part("class-specific code ")
		b = strconv.AppendUint(b, uint64(n), 10)
	}
	return string(append(b, ')'))
}
