package mad

import (
	"encoding/binary"
	"fmt"
)

// SIDRStatus is the outcome of a service ID resolution (section 12.11, table T9).
type SIDRStatus uint8

// The outcomes.
const (
	SIDRValid       SIDRStatus = 0
	SIDRUnsupported SIDRStatus = 1
	SIDRRejected    SIDRStatus = 2
	SIDRNoQP        SIDRStatus = 3
	SIDRRedirect    SIDRStatus = 4
	SIDRVersion     SIDRStatus = 5
)

var sidrStatuses = [...]string{
	"valid", "service ID not supported", "rejected by the service provider", "no QP available", "redirected", "class version not supported",
}

// Defined reports whether the status is one of table T9 (rule CM-SID-002).
func (s SIDRStatus) Defined() bool { return int(s) < len(sidrStatuses) }

func (s SIDRStatus) String() string {
	if s.Defined() {
		return sidrStatuses[s]
	}
	return fmt.Sprintf("reserved status %d", uint8(s))
}

const (
	sidrReqFixed = 16
	sidrRepFixed = 96
	sidrRepInfo  = 24
)

// SIDRReq asks for the QP of a service ID (section 12.11.1).
type SIDRReq struct {
	Header
	RequestID uint32
	PKey      uint16
	ServiceID ServiceID
	Private   []byte // up to 216 bytes; a view on the datagram
	Reserved  uint16
}

// Decode implements Message.
func (m *SIDRReq) Decode(b []byte) error {
	c, err := m.open(b, sidrReqFixed, "SIDR_REQ")
	if err != nil {
		return err
	}
	m.RequestID = binary.BigEndian.Uint32(c)
	m.PKey = binary.BigEndian.Uint16(c[4:])
	m.Reserved = binary.BigEndian.Uint16(c[6:])
	m.ServiceID = ServiceID(binary.BigEndian.Uint64(c[8:]))
	m.Private = c[sidrReqFixed:]
	return nil
}

// Encode implements Message.
func (m *SIDRReq) Encode(b []byte) error {
	c, err := m.create(b, "SIDR_REQ")
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint32(c, m.RequestID)
	binary.BigEndian.PutUint16(c[4:], m.PKey)
	binary.BigEndian.PutUint16(c[6:], m.Reserved)
	binary.BigEndian.PutUint64(c[8:], uint64(m.ServiceID))
	return fill(c[sidrReqFixed:], m.Private, "SIDR_REQ")
}

// SIDRRep answers a SIDR_REQ (section 12.11.2).
type SIDRRep struct {
	Header
	RequestID  uint32
	Status     SIDRStatus
	InfoLength uint8  // bytes of Info that mean something
	VendorID   uint32 // 24 bits
	QPN        uint32
	ServiceID  ServiceID
	QKey       uint32
	Info       []byte // 72 bytes of additional information; a view on the datagram
	Private    []byte // up to 136 bytes; a view on the datagram
}

// Decode implements Message.
func (m *SIDRRep) Decode(b []byte) error {
	c, err := m.open(b, sidrRepFixed, "SIDR_REP")
	if err != nil {
		return err
	}
	m.RequestID = binary.BigEndian.Uint32(c)
	m.Status = SIDRStatus(c[4])
	m.InfoLength = c[5]
	m.VendorID = uint32(binary.BigEndian.Uint16(c[6:]))<<8 | uint32(c[11])
	m.QPN = get24(c[8:])
	m.ServiceID = ServiceID(binary.BigEndian.Uint64(c[12:]))
	m.QKey = binary.BigEndian.Uint32(c[20:])
	m.Info = c[sidrRepInfo:sidrRepFixed]
	m.Private = c[sidrRepFixed:]
	return nil
}

// Encode implements Message.
func (m *SIDRRep) Encode(b []byte) error {
	c, err := m.create(b, "SIDR_REP")
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint32(c, m.RequestID)
	c[4] = uint8(m.Status)
	c[5] = m.InfoLength
	binary.BigEndian.PutUint16(c[6:], uint16(m.VendorID>>8))
	put24(c[8:], m.QPN)
	c[11] = uint8(m.VendorID)
	binary.BigEndian.PutUint64(c[12:], uint64(m.ServiceID))
	binary.BigEndian.PutUint32(c[20:], m.QKey)
	if err := fill(c[sidrRepInfo:sidrRepFixed], m.Info, "SIDR_REP"); err != nil {
		return err
	}
	return fill(c[sidrRepFixed:], m.Private, "SIDR_REP")
}
