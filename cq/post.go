package cq

import (
	"fmt"

	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// postSend adds a work request to the send queue, with the PSNs that it takes.
func (a *Agent) postSend(s *Source, e *Event) {
	q := a.qp(s, e.QP.QPN)
	if q == nil {
		q = a.joins(s, e.QP.QPN, e)
	}
	if q.known {
		a.covered(rule.QPSRST001)
		switch {
		case e.Failed:
		case q.destroy != nil:
			a.tooEarlyPosted(q, 0, e, "an error: the queue pair was destroyed")
		case !q.state.PostSend():
			a.tooEarlyPosted(q, 0, e, fmt.Sprintf("an error: no send request is accepted in %v", q.state))
		}
	}
	if e.Failed {
		q.refused(e.Send.ID)
		return
	}
	w := a.sendRequests.Put(sendRequest{event: e, n: s.n, first: q.next})
	w.length, w.packets = extent(e.Send, q.typ, q.attr.PMTU)
	w.data = s.dataOf(w)
	if q.typ == qp.TypeUD {
		w.vector = s.vectorOf(e.Send)
	}
	if fetches(e.Send.Op) {
		s.local(e.Send.Segments, e.Time)
	}
	if q.known && (q.invalid(e.Send) != nil || q.denies(w) != "") {
		q.accepted = append(q.accepted, w)
	}
	q.sending.toldLate(w, s.n)
	q.next += int64(w.packets)
	q.sends.add(w)
	if !w.local() {
		q.sending.posted.add(w)
	}
	if w.foreign = s.foreign(q, e.Send); e.Send.AH != 0 {
		a.covered(rule.CPLAH001)
	}
	s.changesKeys(q, e)
}

// dataOf is the data of a send request, as far as its event or what is known of memory tells.
func (s *Source) dataOf(w *sendRequest) []byte {
	if len(w.event.Data) < int(w.length) && w.packets > 1 {
		if data := s.held(w.event); data != nil {
			return data
		}
	}
	return w.event.Data
}

// vectorOf is the address vector of a datagram, or nil: it is not known. That of an address handle may change later.
func (s *Source) vectorOf(r *wqe.SendRequest) *wqe.AddressVector {
	switch v := s.handles[r.AH]; {
	case r.AH != 0 && v != nil:
		c := *v
		return &c
	case r.AH == 0 && !r.Dest.Addr.IsZero():
		return &wqe.AddressVector{Dest: r.Dest.Addr}
	}
	return nil
}

// fetches reports whether the device puts into the data segments of a request what the response brings.
func fetches(op wqe.SendOp) bool {
	return op == wqe.OpRead || op == wqe.OpCmpSwap || op == wqe.OpFetchAdd
}

// toldLate takes over that a request, which event n has posted, has completed before, where the line that tells of its posting comes late.
func (s *sending) toldLate(w *sendRequest, n int) {
	id := w.req().ID
	if d := s.unknown[id]; d != nil && d.Completion.Op == Done(w.req().Op) {
		w.done, w.doneN, w.renames, w.settled = d, n, d, true
		delete(s.unknown, id)
	}
}

// changesKeys takes over what a request does to the key of a window or a region.
func (s *Source) changesKeys(q *queuePair, e *Event) {
	switch r := e.Send; {
	case r.Window != nil:
		s.bind(q, e)
	case r.Op == wqe.OpLocalInv:
		s.free(r.InvKey)
		if r := s.region(r.InvKey); r != nil {
			s.keys++
			r.uncertain = true
		}
	}
}

// extent is how many bytes the message of a send request has, and how many packets. pmtu 0: it is not known.
func extent(r *wqe.SendRequest, typ qp.Type, pmtu uint32) (length uint32, packets int) {
	for _, g := range r.Segments {
		length += g.Length
	}
	switch r.Op {
	case wqe.OpLocalInv, wqe.OpBindMW:
		return length, 0
	case wqe.OpCmpSwap, wqe.OpFetchAdd, wqe.OpAtomicWrite, wqe.OpFlush:
		return length, 1
	}
	switch {
	case pmtu != 0:
		return length, wqe.Packets(length, pmtu)
	case typ == qp.TypeUD && length > longest:
		return length, 0 // it is not sent
	}
	return length, 1
}

// longest is the greatest MTU of a port.
const longest = 4096

// mostRefused is how many work requests that were refused are remembered of a queue pair.
const mostRefused = 4096

// refused remembers a work request that was refused.
func (q *queuePair) refused(id uint64) {
	if q.refusals == nil {
		q.refusals = map[uint64]bool{}
	}
	if len(q.refusals) < mostRefused {
		q.refusals[id] = true
	}
}

// postReceive adds a work request to a receive queue.
func (a *Agent) postReceive(s *Source, e *Event) {
	if s.receives = true; !e.Failed {
		s.local(e.Receive.Segments, e.Time)
	}
	if e.SRQ != 0 {
		if !e.Failed {
			s.sharedQueue(e.SRQ).add(a.receives.Put(receive{event: e, n: s.n}))
		}
		return
	}
	q := a.qp(s, e.QP.QPN)
	if q == nil {
		q = a.joins(s, e.QP.QPN, e)
	}
	if q.known {
		a.covered(rule.QPSRST001)
		a.covered(rule.CPLSRQ004)
		switch {
		case e.Failed:
		case q.destroy != nil:
			a.tooEarlyPosted(q, 1, e, "an error: the queue pair was destroyed")
		case !q.state.PostReceive():
			a.tooEarlyPosted(q, 1, e, fmt.Sprintf("an error: no receive request is accepted in %v", q.state))
		case q.recvs.shared:
			a.verb(q, rule.CPLSRQ004, e, "an error: the queue pair receives from a shared receive queue", "the request was accepted")
		}
	}
	if e.Failed {
		q.refused(e.Receive.ID)
		return
	}
	if !q.recvs.shared {
		q.recvs.add(a.receives.Put(receive{event: e, n: s.n}))
	}
}

func (r *receiveQueue) add(x *receive) {
	x.place, x.queue = r.list.end(), r
	r.list.add(x)
	id := x.event.Receive.ID
	same := r.byID[id]
	if same.first == nil {
		same.first = x
	} else {
		same.last.next = x
	}
	same.last = x
	r.byID[id] = same
}

// open returns the oldest request with this ID that is not completed, or nil.
func (r *receiveQueue) open(id uint64) *receive {
	same, known := r.byID[id]
	if !known {
		return nil
	}
	if same.first == nil || !same.first.done {
		return same.first
	}
	for same.first != nil && same.first.done {
		same.first = same.first.next
	}
	r.byID[id] = same
	return same.first
}

// tooEarlyPosted reports that a request was accepted in a state in which none of its kind is, or after its queue pair was destroyed: the first of a life tells of it.
func (a *Agent) tooEarlyPosted(q *queuePair, kind int, e *Event, expected string) {
	if !q.early[kind] {
		q.early[kind] = true
		a.stray(q, verdict{Verdict: rule.Verdict{Rule: rule.QPSRST001, Class: rule.Violation, Expected: expected, Actual: "the request was accepted"}, event: e})
	}
}
