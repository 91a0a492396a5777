package mad

import (
	"encoding/binary"

	"ibwitness/packet"
)

const repFixed = 36

// REP accepts a REQ (section 12.6.8). Its sender is the passive side.
type REP struct {
	Header
	LocalCommID        uint32
	RemoteCommID       uint32
	LocalQKey          uint32
	LocalQPN           uint32
	VendorID           uint32 // 24 bits
	LocalEECN          uint32
	StartingPSN        packet.PSN // at which the active side starts to send requests (section 12.7.31)
	ResponderResources uint8      // READs and atomics that the passive side will keep resources for
	InitiatorDepth     uint8      // READs and atomics that the passive side will have outstanding
	TargetAckDelay     uint8      // 5 bits
	FailoverAccepted   uint8      // 2 bits: 0 accepted, 1 unsupported, 2 rejected
	FlowControl        bool       // the passive side's responder generates end-to-end credits
	RNRRetryCount      uint8      // of the active side's requester
	SRQ                bool
	LocalCAGUID        uint64
	Private            []byte // up to 196 bytes; a view on the datagram
	Reserved           uint8  // 4 bits
}

// Decode implements Message.
func (m *REP) Decode(b []byte) error {
	c, err := m.open(b, repFixed, "REP")
	if err != nil {
		return err
	}
	m.LocalCommID = binary.BigEndian.Uint32(c)
	m.RemoteCommID = binary.BigEndian.Uint32(c[4:])
	m.LocalQKey = binary.BigEndian.Uint32(c[8:])
	m.LocalQPN = get24(c[12:])
	m.VendorID = uint32(c[15])<<16 | uint32(c[19])<<8 | uint32(c[23])
	m.LocalEECN = get24(c[16:])
	m.StartingPSN = packet.PSN(get24(c[20:]))
	m.ResponderResources = c[24]
	m.InitiatorDepth = c[25]
	m.TargetAckDelay = c[26] >> 3
	m.FailoverAccepted = c[26] >> 1 & 3
	m.FlowControl = c[26]&1 != 0
	m.RNRRetryCount = c[27] >> 5
	m.SRQ = c[27]&0x10 != 0
	m.Reserved = c[27] & 0xF
	m.LocalCAGUID = binary.BigEndian.Uint64(c[28:])
	m.Private = c[repFixed:]
	return nil
}

// Encode implements Message.
func (m *REP) Encode(b []byte) error {
	c, err := m.create(b, "REP")
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint32(c, m.LocalCommID)
	binary.BigEndian.PutUint32(c[4:], m.RemoteCommID)
	binary.BigEndian.PutUint32(c[8:], m.LocalQKey)
	put24(c[12:], m.LocalQPN)
	c[15], c[19], c[23] = uint8(m.VendorID>>16), uint8(m.VendorID>>8), uint8(m.VendorID)
	put24(c[16:], m.LocalEECN)
	put24(c[20:], uint32(m.StartingPSN))
	c[24] = m.ResponderResources
	c[25] = m.InitiatorDepth
	c[26] = m.TargetAckDelay<<3 | m.FailoverAccepted&3<<1 | bit(m.FlowControl)
	c[27] = m.RNRRetryCount<<5 | bit(m.SRQ)<<4 | m.Reserved&0xF
	binary.BigEndian.PutUint64(c[28:], m.LocalCAGUID)
	return fill(c[repFixed:], m.Private, "REP")
}
