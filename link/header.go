package link

import "encoding/binary"

// HeaderSize is how many bytes precede each frame of a link tap.
const HeaderSize = 8

// magic begins each frame of a link tap: the link type is one of those that everybody may use.
const magic = "IL"

// Kind is what a frame of a link tap holds.
type Kind uint8

// The kinds.
const (
	Data     Kind = iota // a data packet, from its LRH through its VCRC
	Packet               // a link packet
	Physical             // one byte: the port's physical state (PortPhysicalState) from now on
	numKinds
)

// Mark is what the header of a frame says beside its kind.
type Mark struct {
	Link   uint16 // number of the link
	Symbol uint16 // how long a symbol takes, in picoseconds: 4000 at 2.5 Gb/s a lane; 0: not known
	Port   uint8  // 0 or 1: which of the two ports of the link sent the packet
	Bad    bool   // the packet did not end with EGP: it ended as End says, or, where that is EGP, with the bad-packet delimiter (EBP)
	End    End    // what ended the packet, where neither EGP nor EBP did
}

// End is a symbol in place of the delimiter that ends a packet (section 7.3).
type End uint8

// The ends. A port takes no packet that ends otherwise than with EGP.
const (
	EGP     End = iota // or EBP, which Mark.Bad says
	SDP                // the delimiter that begins a data packet
	SLP                // the delimiter that begins a link packet
	Invalid            // an invalid code group
)

// LinkUp is the physical state in which a port sends and receives (PortPhysicalState, table T12).
const LinkUp = 5

// The flags of a header.
const (
	flagPort = 1 << iota // sent by port B
	flagBad              // did not end with EGP
)

// endShift is where in the flags the end is, two bits.
const endShift = 2

// DecodeHeader takes apart the header of a frame of a link tap: magic "IL", kind, flags, then in network order the number of the link and the
// time of a symbol. The frame proper begins at HeaderSize. The result is false where b begins with no such header.
func DecodeHeader(b []byte) (k Kind, m Mark, ok bool) {
	if len(b) < HeaderSize || string(b[:2]) != magic || Kind(b[2]) >= numKinds {
		return 0, m, false
	}
	m = Mark{Link: binary.BigEndian.Uint16(b[4:]), Symbol: binary.BigEndian.Uint16(b[6:]), Port: b[3] & flagPort, Bad: b[3]&flagBad != 0}
	if m.Bad {
		m.End = End(b[3] >> endShift & 3)
	}
	return Kind(b[2]), m, true
}

// AppendHeader appends the header of a frame of a link tap.
func AppendHeader(b []byte, k Kind, m Mark) []byte {
	flags := m.Port & flagPort
	if m.Bad {
		flags |= flagBad | byte(m.End&3)<<endShift
	}
	b = append(b, magic[0], magic[1], byte(k), flags)
	b = binary.BigEndian.AppendUint16(b, m.Link)
	return binary.BigEndian.AppendUint16(b, m.Symbol)
}
