package cq

import (
	"ibwitness/packet"
	"ibwitness/qp"
)

// Unseen is the queue pairs of a log that have completed send requests with success, and of which no request was captured, or receive requests, and no request to them was.
type Unseen struct {
	QPs  int // how many there are
	Seen int // and of how many others the packets show something

	// Of the first of them:
	QPN, DestQPN uint32
	Dest         packet.Addr // zero: it is not connected
}

// Unseen returns the queue pairs of a source of events of which no packet shows anything, and what findings call it. The capture has ended.
func (s *Source) Unseen() (log string, list Unseen) {
	if log = s.name; log == "" {
		log = "the events of " + s.addr.String()
	}
	return log, s.unseen
}

// unseen takes over whether packets have shown anything of a queue pair whose requests have completed.
func (a *Agent) unseen(q *queuePair) {
	if !q.known || q.later || q.typ == qp.TypeSMI || q.typ == qp.TypeGSI || !q.sending.succeeded && !q.receiving.succeeded {
		return
	}
	u := &q.src.unseen
	if (!q.sending.succeeded || q.out.shown()) && (!q.receiving.succeeded || q.in.shown()) {
		u.Seen++
	} else if u.QPs++; u.QPs == 1 {
		u.QPN, u.DestQPN, u.Dest = q.qpn, q.attr.DestQPN, q.attr.DestAddr
	}
}

// shown reports whether packets have shown anything of the requests. Those from before a start PSN that is known are of an earlier queue pair of that number, or it is not their start PSN.
func (s *Requests) shown() bool { return s.first.Seen() && (s.high > 0 || !s.anchor) }
