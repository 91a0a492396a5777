package mad

import "fmt"

// Attribute says which record or message a MAD carries. Its numbers mean something else in each class.
type Attribute uint16

// The messages of the communication manager (rule CM-FMT-002).
const (
	AttrREQ     Attribute = 0x10
	AttrMRA     Attribute = 0x11
	AttrREJ     Attribute = 0x12
	AttrREP     Attribute = 0x13
	AttrRTU     Attribute = 0x14
	AttrDREQ    Attribute = 0x15
	AttrDREP    Attribute = 0x16
	AttrSIDRReq Attribute = 0x17
	AttrSIDRRep Attribute = 0x18
	AttrLAP     Attribute = 0x19
	AttrAPR     Attribute = 0x1A
)

// AttributeName names the attribute within the class of the MAD.
func (h *Header) AttributeName() string {
	if h.Class == ClassCM && h.Attribute >= AttrREQ && h.Attribute <= AttrAPR {
		return [...]string{"REQ", "MRA", "REJ", "REP", "RTU", "DREQ", "DREP", "SIDR_REQ", "SIDR_REP", "LAP", "APR"}[h.Attribute-AttrREQ]
	}
	if name := smpAttribute(h.Class, h.Attribute); name != "" {
		return name
	}
	if name := generalAttribute(h.Class, h.Attribute); name != "" {
		return name
	}
	return fmt.Sprintf("attribute 0x%04x", uint16(h.Attribute))
}

// Message is one message of the communication manager.
type Message interface {
	// Decode fills the message from a MAD. Private data and additional information become views on b, as long as b holds of
	// them. It does not allocate. The error wraps ErrShort.
	Decode(b []byte) error
	// Encode writes all 256 bytes of the MAD; b must have room for them and must not be what the message has views on. Values wider
	// than their field lose their upper bits. The error wraps ErrShort or ErrLong.
	Encode(b []byte) error
}

// NewMessage returns an empty message for an attribute of the communication manager, or nil for any other.
func NewMessage(a Attribute) Message {
	switch a {
	case AttrREQ:
		return new(REQ)
	case AttrMRA:
		return new(MRA)
	case AttrREJ:
		return new(REJ)
	case AttrREP:
		return new(REP)
	case AttrRTU:
		return new(RTU)
	case AttrDREQ:
		return new(DREQ)
	case AttrDREP:
		return new(DREP)
	case AttrSIDRReq:
		return new(SIDRReq)
	case AttrSIDRRep:
		return new(SIDRRep)
	case AttrLAP:
		return new(LAP)
	case AttrAPR:
		return new(APR)
	}
	return nil
}
