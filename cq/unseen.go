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
	if (!q.sending.succeeded || q.out.first.Seen() || a.flowed(q.emits)) && (!q.receiving.succeeded || q.in.first.Seen() || a.flowed(q.collects)) {
		u.Seen++
	} else if u.QPs++; u.QPs == 1 {
		u.QPN, u.DestQPN, u.Dest = q.qpn, q.attr.DestQPN, q.attr.DestAddr
	}
}

// flowed reports whether there was a flow.
func (a *Agent) flowed(is func(Flow) bool) bool {
	for k := range a.flows {
		if is(k) {
			return true
		}
	}
	return false
}

// emits reports whether a flow is one that the queue pair sends.
func (q *queuePair) emits(k Flow) bool {
	switch {
	case k.Service != q.service() || k.Src != q.addr():
		return false
	case k.Service == packet.UD:
		return k.From == q.qpn
	}
	return k.To == q.attr.DestQPN && q.sendsTo(k)
}

// collects reports whether a flow is one that comes to the queue pair.
func (q *queuePair) collects(k Flow) bool {
	return k.Service == q.service() && (k.Dst == q.addr() && k.To == q.qpn && q.takes(k) || k.group())
}
