package qp

import "ibwitness/packet"

// NAK is the newest negative acknowledgement of a responder, and what followed it.
type NAK struct {
	Time        int64
	PSN         packet.PSN
	Frame       uint32 // low bits
	ID          uint16 // IPv4 identification
	Code        packet.Syndrome
	RNRs        uint8 // RNR NAKs in a row for one PSN
	Timed       bool  // a request was retransmitted since the NAK
	Blamed      bool  // what a requester did after this NAK was reported: once is enough
	Unprocessed bool  // the requester lacked a response from before this RNR NAK: it retransmits from there, and does not process the NAK
	Silenced    bool  // a response after a fatal NAK was reported
}

// take notes that p is the newest NAK. What its requester did after the one before it counts no more.
func (n *NAK) take(p *packet.Packet) {
	n.PSN, n.Code, n.Frame, n.Time, n.ID = p.PSN, p.Syndrome, uint32(p.Frame), p.Time, p.IPID
	n.Timed, n.Blamed, n.Unprocessed = false, false, false
}

// Blame notes that what a requester does after this NAK was reported, or is the same fault.
func (n *NAK) Blame() { n.Blamed = true }

// LeaveUnprocessed notes that the requester may not process this RNR NAK.
func (n *NAK) LeaveUnprocessed() { n.Unprocessed = true }

// CountRNR notes how many RNR NAKs there were in a row for one PSN.
func (n *NAK) CountRNR(rnrs uint8) { n.RNRs = rnrs }

// Measure notes that a request was retransmitted since the NAK.
func (n *NAK) Measure() { n.Timed = true }

// Silence notes that a response after a fatal NAK was reported.
func (n *NAK) Silence() { n.Silenced = true }
