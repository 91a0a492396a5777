package mad

import (
	"encoding/binary"

	"ibwitness/packet"
)

// Transport is the transport service that a REQ asks for (table T9).
type Transport uint8

// The transports.
const (
	TransportRC       Transport = 0
	TransportUC       Transport = 1
	TransportRD       Transport = 2
	TransportExtended Transport = 3 // ExtendedTransport says which
)

// ExtendedXRC is the extended transport type of XRC (annex A14).
const ExtendedXRC = 1

const reqFixed = 140

// REQ asks for a connection (section 12.6.5, table T8). Its sender is the active side.
type REQ struct {
	Header
	LocalCommID        uint32
	VendorID           uint32 // 24 bits
	ServiceID          ServiceID
	LocalCAGUID        uint64
	LocalQKey          uint32
	LocalQPN           uint32
	ResponderResources uint8 // READs and atomics that the active side will keep resources for
	LocalEECN          uint32
	InitiatorDepth     uint8 // READs and atomics that the active side will have outstanding
	RemoteEECN         uint32
	RemoteCMTimeout    uint8 // 5 bits: how long the passive side has for its answer
	Transport          Transport
	FlowControl        bool       // the active side's responder generates end-to-end credits
	StartingPSN        packet.PSN // at which the passive side starts to send requests (section 12.7.31)
	LocalCMTimeout     uint8      // 5 bits: how long the active side needs for its answers
	RetryCount         uint8      // of the passive side's requester
	PKey               uint16
	PathMTU            uint8 // code 1 … 5: 256 … 4096 bytes
	RDCExists          bool
	RNRRetryCount      uint8 // of the passive side's requester
	MaxCMRetries       uint8 // 4 bits
	SRQ                bool
	ExtendedTransport  uint8 // 3 bits
	Primary            Path
	Alternate          Path
	Private            []byte // up to 92 bytes; a view on the datagram
	Reserved1          uint8
	Reserved2          uint32
}

// PathMTUBytes returns the path MTU in bytes; false if the code is reserved (rule CM-REQ-003).
func (m *REQ) PathMTUBytes() (uint32, bool) {
	if m.PathMTU < 1 || m.PathMTU > 5 {
		return 0, false
	}
	return 128 << m.PathMTU, true
}

// Service returns the transport service that the REQ asks for; false for a reserved extended transport.
func (m *REQ) Service() (packet.Service, bool) {
	switch m.Transport {
	case TransportRC:
		return packet.RC, true
	case TransportUC:
		return packet.UC, true
	case TransportRD:
		return packet.RD, true
	}
	return packet.XRC, m.ExtendedTransport == ExtendedXRC
}

// Decode implements Message.
func (m *REQ) Decode(b []byte) error {
	c, err := m.open(b, reqFixed, "REQ")
	if err != nil {
		return err
	}
	m.LocalCommID = binary.BigEndian.Uint32(c)
	m.Reserved1 = c[4]
	m.VendorID = get24(c[5:])
	m.ServiceID = ServiceID(binary.BigEndian.Uint64(c[8:]))
	m.LocalCAGUID = binary.BigEndian.Uint64(c[16:])
	m.Reserved2 = binary.BigEndian.Uint32(c[24:])
	m.LocalQKey = binary.BigEndian.Uint32(c[28:])
	m.LocalQPN = get24(c[32:])
	m.ResponderResources = c[35]
	m.LocalEECN = get24(c[36:])
	m.InitiatorDepth = c[39]
	m.RemoteEECN = get24(c[40:])
	m.RemoteCMTimeout = c[43] >> 3
	m.Transport = Transport(c[43] >> 1 & 3)
	m.FlowControl = c[43]&1 != 0
	m.StartingPSN = packet.PSN(get24(c[44:]))
	m.LocalCMTimeout = c[47] >> 3
	m.RetryCount = c[47] & 7
	m.PKey = binary.BigEndian.Uint16(c[48:])
	m.PathMTU = c[50] >> 4
	m.RDCExists = c[50]&8 != 0
	m.RNRRetryCount = c[50] & 7
	m.MaxCMRetries = c[51] >> 4
	m.SRQ = c[51]&8 != 0
	m.ExtendedTransport = c[51] & 7
	m.Primary.get(c[52:])
	m.Alternate.get(c[96:])
	m.Private = c[reqFixed:]
	return nil
}

// Encode implements Message.
func (m *REQ) Encode(b []byte) error {
	c, err := m.create(b, "REQ")
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint32(c, m.LocalCommID)
	c[4] = m.Reserved1
	put24(c[5:], m.VendorID)
	binary.BigEndian.PutUint64(c[8:], uint64(m.ServiceID))
	binary.BigEndian.PutUint64(c[16:], m.LocalCAGUID)
	binary.BigEndian.PutUint32(c[24:], m.Reserved2)
	binary.BigEndian.PutUint32(c[28:], m.LocalQKey)
	put24(c[32:], m.LocalQPN)
	c[35] = m.ResponderResources
	put24(c[36:], m.LocalEECN)
	c[39] = m.InitiatorDepth
	put24(c[40:], m.RemoteEECN)
	c[43] = m.RemoteCMTimeout<<3 | uint8(m.Transport&3)<<1 | bit(m.FlowControl)
	put24(c[44:], uint32(m.StartingPSN))
	c[47] = m.LocalCMTimeout<<3 | m.RetryCount&7
	binary.BigEndian.PutUint16(c[48:], m.PKey)
	c[50] = m.PathMTU<<4 | bit(m.RDCExists)<<3 | m.RNRRetryCount&7
	c[51] = m.MaxCMRetries<<4 | bit(m.SRQ)<<3 | m.ExtendedTransport&7
	m.Primary.put(c[52:])
	m.Alternate.put(c[96:])
	return fill(c[reqFixed:], m.Private, "REQ")
}
