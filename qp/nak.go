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

// BlameNAK notes that what a requester does after the newest NAK was reported, or is the same fault.
func (r *ReceiveQueue) BlameNAK() { r.seldom().NAK.Blamed = true }

// LeaveUnprocessed notes that the requester may not process the newest NAK, which is an RNR NAK.
func (r *ReceiveQueue) LeaveUnprocessed() { r.seldom().NAK.Unprocessed = true }

// CountRNRs notes how many RNR NAKs there were in a row for one PSN.
func (r *ReceiveQueue) CountRNRs(rnrs uint8) {
	if rnrs != r.NAK.RNRs {
		r.seldom().NAK.RNRs = rnrs
	}
}

// MeasureNAK notes that a request was retransmitted since the newest NAK.
func (r *ReceiveQueue) MeasureNAK() { r.seldom().NAK.Timed = true }

// Silence notes that a response after a fatal NAK was reported.
func (r *ReceiveQueue) Silence() { r.seldom().NAK.Silenced = true }

// NAKedAt notes that the newest NAK was seen at a time, or later.
func (r *ReceiveQueue) NAKedAt(at int64) {
	if at > r.NAK.Time {
		r.seldom().NAK.Time = at
	}
}
