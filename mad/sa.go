package mad

import (
	"encoding/binary"
	"fmt"
)

// The methods of subnet administration (table T10).
const (
	GetTable      Method = 0x12
	GetTraceTable Method = 0x13
	GetMulti      Method = 0x14
	Delete        Method = 0x15
	GetTableResp  Method = 0x92
	GetMultiResp  Method = 0x94
	DeleteResp    Method = 0x95
)

var saMethods = [256]string{
	GetTable: "GetTable", GetTraceTable: "GetTraceTable", GetMulti: "GetMulti", Delete: "Delete",
	GetTableResp: "GetTableResp", GetMultiResp: "GetMultiResp", DeleteResp: "DeleteResp",
}

// The attributes of subnet administration (table T13).
const (
	AttrClassPortInfo      Attribute = 0x01 // of every class
	AttrNotice             Attribute = 0x02
	AttrInformInfo         Attribute = 0x03
	AttrNodeRecord         Attribute = 0x11
	AttrPortInfoRecord     Attribute = 0x12
	AttrSLtoVLRecord       Attribute = 0x13
	AttrSwitchInfoRecord   Attribute = 0x14
	AttrLFTRecord          Attribute = 0x15
	AttrRFTRecord          Attribute = 0x16
	AttrMFTRecord          Attribute = 0x17
	AttrSMInfoRecord       Attribute = 0x18
	AttrLinkRecord         Attribute = 0x20
	AttrGUIDInfoRecord     Attribute = 0x30
	AttrServiceRecord      Attribute = 0x31
	AttrPKeyTableRecord    Attribute = 0x33
	AttrPathRecord         Attribute = 0x35
	AttrVLArbRecord        Attribute = 0x36
	AttrMCMemberRecord     Attribute = 0x38
	AttrTraceRecord        Attribute = 0x39
	AttrMultiPathRecord    Attribute = 0x3A
	AttrServiceAssociation Attribute = 0x3B
	AttrInformInfoRecord   Attribute = 0xF3
)

var general = map[Attribute]string{AttrClassPortInfo: "ClassPortInfo", AttrNotice: "Notice", AttrInformInfo: "InformInfo"}

// generalAttribute names an attribute of a class other than subnet management and CM, or "".
func generalAttribute(c Class, a Attribute) string {
	if c == ClassSubnetLID || c == ClassSubnetDirected {
		return ""
	}
	if name, ok := general[a]; ok {
		return name
	}
	switch c {
	case ClassSubnetAdmin:
		if a == AttrRFTRecord {
			return "RandomForwardingTableRecord"
		}
		if a == AttrMFTRecord {
			return "MulticastForwardingTableRecord"
		}
		if l := SARecord(a); l != nil {
			return l.Name
		}
	case ClassPerformance:
		return performanceAttributes[a]
	}
	return ""
}

// Where the parts of a subnet administration MAD begin, and how many bytes of records it holds.
const (
	SAHeaderSize = 56
	SADataSize   = Size - SAHeaderSize
)

// SA is the header of subnet administration, bytes 36 to 55 of a MAD, after those of the MAD and of RMPP (table T13).
type SA struct {
	SMKey           uint64
	AttributeOffset uint16 // of records, in units of 8 bytes
	Reserved        uint16
	ComponentMask   uint64
}

// Decode reads the header from a whole MAD. The error wraps ErrShort.
func (s *SA) Decode(b []byte) error {
	if len(b) < SAHeaderSize {
		return fmt.Errorf("mad: SA header: %w", ErrShort)
	}
	*s = SA{
		SMKey: binary.BigEndian.Uint64(b[36:]), AttributeOffset: binary.BigEndian.Uint16(b[44:]),
		Reserved: binary.BigEndian.Uint16(b[46:]), ComponentMask: binary.BigEndian.Uint64(b[48:]),
	}
	return nil
}

// Encode writes the header into a whole MAD. The error wraps ErrShort.
func (s *SA) Encode(b []byte) error {
	if len(b) < SAHeaderSize {
		return fmt.Errorf("mad: SA header: %w", ErrShort)
	}
	binary.BigEndian.PutUint64(b[36:], s.SMKey)
	binary.BigEndian.PutUint16(b[44:], s.AttributeOffset)
	binary.BigEndian.PutUint16(b[46:], s.Reserved)
	binary.BigEndian.PutUint64(b[48:], s.ComponentMask)
	return nil
}
