package cq

import (
	"fmt"

	"ibwitness/qp"
	"ibwitness/rule"
)

// unposted judges a completion that belongs to no request that is open.
func (a *Agent) unposted(q *queuePair, e *Event) {
	id := e.Completion.ID
	if q.refusals[id] {
		a.covered(rule.CPLIMD001)
		a.verb(q, rule.CPLIMD001, e, "no completion: the post returned an error", fmt.Sprintf("a completion of request %d", id))
		return
	}
	if a.misnamed(q, e) || !q.known || q.doubt { // where it is not known, from before the log
		return
	}
	if q.typ == qp.TypeXRCTarget && (!q.src.exact || a.ambiguousReceive(q, e)) {
		return
	}
	if a.unsignaled(q, e) {
		return
	}
	a.covered(rule.CPLORD002)
	switch {
	case q.sends.end() > q.sends.first() && q.otherID(e), q.sending.strayed && !e.Completion.received(): // a finding has told of it
	case q.hasPosted(id):
		a.completedAgain(q, e)
	default:
		a.neverPosted(q, e)
	}
}

// completedAgain judges a completion of a request that has completed before.
func (a *Agent) completedAgain(q *queuePair, e *Event) {
	if e.Completion.Op >= DoneRecv && q.doubledFrom == 0 {
		q.doubledFrom = q.src.n
	}
	if !q.otherReceive(e) {
		a.verb(q, rule.CPLORD002, e, fmt.Sprintf("one completion of request %d", e.Completion.ID), "a second completion")
	}
}

// neverPosted judges a completion of a request that no event has posted.
func (a *Agent) neverPosted(q *queuePair, e *Event) {
	c := e.Completion
	if c.Status == Success {
		q.rename(e)
	}
	a.verb(q, rule.CPLORD002, e, "a completion of a request that was posted", fmt.Sprintf("request %d, which was not", c.ID))
	switch {
	case c.sent():
		q.sending.unlisted(e)
	case c.received() && !q.recvs.unposted:
		q.recvs.unposted = true
		a.doubtLimit(q)
	}
}

// unlisted keeps a completion of a send request that no event has posted: the line that tells of it may come late.
func (s *sending) unlisted(e *Event) {
	if s.unposted = true; s.unknown == nil {
		s.unknown = map[uint64]*Event{}
	}
	if len(s.unknown) < mostUnknown {
		s.unknown[e.Completion.ID] = e
	}
}

// mostUnknown is how many completions of send requests that were not posted are kept of a queue pair, whose posting may be told later.
const mostUnknown = 64

// unsignaled judges a completion with success of a send request that is not signalled, and that one after it has completed already.
func (a *Agent) unsignaled(q *queuePair, e *Event) bool {
	if !e.Completion.sent() {
		return false
	}
	for _, w := range q.sends.all() {
		if w.req().ID == e.Completion.ID && w.done == nil && !w.event.Anonymous && !w.signaled(q) {
			w.done = e
			a.covered(rule.CPLSIG001)
			a.notSignaled(q, e)
			return true
		}
	}
	return false
}

// rename takes over that a completion has come which names a request that was not posted: it came in the place of the oldest that is open.
func (q *queuePair) rename(e *Event) {
	if e.Completion.Op >= DoneRecv {
		q.receiving.unposted++
		if list := q.recvs; !list.shared {
			for _, r := range list.list.from(list.oldest) {
				if !r.done && !r.late {
					r.late, r.renamed = true, true
					return
				}
			}
		}
		return
	}
	for _, w := range q.sends.from(q.oldest) {
		if w.done == nil && !w.overtaken && w.signaled(q) {
			w.overtaken, w.renamed = true, true
			return
		}
	}
}

// otherID reports whether a request completes a second time as its first completion was that of a request that it has passed over, and named the wrong one.
func (q *queuePair) otherID(e *Event) bool {
	if !e.Completion.sent() {
		return false
	}
	for _, w := range q.sends.all() {
		if v := w.over; v != nil && v.done == nil && w.req().ID == e.Completion.ID && v.req().Op == w.req().Op {
			v.done, v.doneN, v.settled, w.over = e, q.src.n, true, nil
			return true
		}
	}
	return false
}

// otherReceive is otherID for receive requests.
func (q *queuePair) otherReceive(e *Event) bool {
	if !e.Completion.received() {
		return false
	}
	for _, r := range q.recvs.list.all() {
		if v := r.over; v != nil && !v.done && r.event.Receive.ID == e.Completion.ID {
			v.done, v.judged, r.over = true, true, nil
			return true
		}
	}
	return false
}

func (a *Agent) notSignaled(q *queuePair, e *Event) {
	a.verb(q, rule.CPLSIG001, e, fmt.Sprintf("no completion: request %d is not signalled", e.Completion.ID), "a completion with success")
}
