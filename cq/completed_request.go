package cq

import (
	"cmp"

	"ibwitness/qp"
	"ibwitness/rule"
)

// completion finds the work request of a completion, and judges its order.
func (a *Agent) completion(s *Source, e *Event) {
	c := e.Completion
	q := a.qp(s, c.QP.QPN)
	if q == nil {
		q = a.joins(s, c.QP.QPN, e)
	}
	for _, q := range s.lifetimes(c.QP.QPN) {
		q.events++
	}
	a.covered(rule.CPLSTS001)
	if c.Status > GeneralErr {
		a.verb(q, rule.CPLSTS001, e, "a status from 0 to 21", c.Status.String())
		q.over(e)
		return
	}
	q, w, r := q.ofLife(e)
	cq := s.queue(e.CQ)
	if a.otherCQ(q, w, r, e) {
		cq = &completionQueue{} // what it tells of either is nothing
	}
	a.queueHeld(s, cq, e)
	switch {
	case w != nil:
		a.sendDone(q, w, e)
		s.polled(cq, e, w, nil)
		a.unnotifiedSend(q, w)
		cq.looked(e, w)
		if b := w.req().Window; b != nil && c.Status == Success {
			a.bound(q, e, b)
		} else if b != nil {
			s.notBound(b)
		}
	case r != nil:
		a.receiveDone(q, r, e)
		s.polled(cq, e, nil, q.newestReceive)
		cq.looked(e, nil)
		if c.Flags&WithInv != 0 {
			s.free(c.InvKey)
		}
	default:
		a.unposted(q, e)
		s.polled(cq, e, nil, nil)
		cq.looked(e, nil)
	}
}

// ofLife returns the request that a completion is of, of either queue, and the life of the queue pair which it belongs to: what waited in the completion queue when the queue pair was
// reset is of its previous connection. Where there is no such request, that is q.
func (q *queuePair) ofLife(e *Event) (*queuePair, *sendRequest, *receive) {
	lives := q.src.qps[q.qpn]
	for i := len(lives) - 1; i >= 0; i-- {
		p := lives[i]
		if p.unready(e.Completion) {
			continue
		}
		if w, r := p.request(e); w != nil || r != nil {
			return p, w, r
		}
	}
	return q, nil, nil
}

// unready reports whether q has been reset, and not been in a state since in which one of its requests can end as c says. One that accepts requests nonetheless, as was reported, rather has not
// been reset.
func (q *queuePair) unready(c *Completion) bool {
	return q.later && !q.early[0] && !q.early[1] && (q.state < qp.RTR || q.wasRTR == nil && c.Status == Success)
}

// request returns the request that a completion is of, of either queue. An error does not always say which queue that is, and an ID may be in use in both: then it is rather the
// send request where that is the oldest of its queue, and in which order the two queues completed is not certain any more.
func (q *queuePair) request(e *Event) (w *sendRequest, r *receive) {
	c := e.Completion
	if !c.received() {
		w = q.openSend(c)
	}
	if !c.sent() {
		r = q.openReceive(c.ID)
	}
	if w == nil || r == nil {
		return w, r
	}
	sent, certain := q.sentBy(e)
	if !certain {
		q.either, sent = true, w == q.oldestSend()
	}
	if sent {
		return w, nil
	}
	return nil, r
}

// sentBy reports whether an error is of a send request, as far as its status or its completion queue says so for certain.
func (q *queuePair) sentBy(e *Event) (sent, certain bool) {
	switch e.Completion.Status {
	case MWBindErr, BadRespErr, RemOpErr, RetryExcErr, RNRRetryExcErr, RemInvRDReqErr, RespTimeoutErr:
		return true, true
	}
	if m := q.made; m != nil && m.SendCQ != 0 && m.RecvCQ != 0 && m.SendCQ != m.RecvCQ {
		return e.CQ == m.SendCQ, e.CQ == m.SendCQ || e.CQ == m.RecvCQ
	}
	return false, false
}

// over notes that a request is complete, in a way that has been reported as wrong.
func (q *queuePair) over(e *Event) {
	switch w, r := q.request(e); {
	case w != nil:
		w.done, w.doneN = e, q.src.n
	case r != nil:
		r.done = true
	}
}

// oldestSend returns the oldest send request that is not completed, or nil.
func (q *queuePair) oldestSend() *sendRequest {
	for _, w := range q.sends.from(q.oldest) {
		if w.done == nil {
			return w
		}
	}
	return nil
}

// openSend returns the oldest send request that is not completed and has the ID of the completion, or nil. IDs may repeat: a success is rather of a request that is signalled, and where the
// log begins late, of one with its operation.
func (q *queuePair) openSend(c *Completion) *sendRequest {
	var renamed, unsignaled, anonymous *sendRequest
	for _, w := range q.sends.from(q.oldest) {
		switch {
		case w.done != nil || !q.names(c, w) || !q.known && c.Status == Success && c.Op != Done(w.req().Op):
		case w.event.Anonymous:
			if anonymous == nil {
				anonymous = w
			}
		case c.Status == Success && !w.signaled(q) && q.known:
			if unsignaled == nil {
				unsignaled = w
			}
		case !w.renamed:
			return w
		default:
			renamed = w
		}
	}
	return cmp.Or(renamed, unsignaled, anonymous)
}

// names reports whether a completion has the ID of a send request, where that is known.
func (q *queuePair) names(c *Completion, w *sendRequest) bool {
	if !w.event.Anonymous {
		return w.req().ID == c.ID
	}
	if c.Status == Success {
		return c.Op == DoneBindMW
	}
	return !q.hasPosted(c.ID)
}

// hasPosted reports whether a request with this ID is known.
func (q *queuePair) hasPosted(id uint64) bool {
	if _, ok := q.recvs.byID[id]; ok || q.recvs.past.has(id) || q.past.has(id) || len(q.sharedWith(id)) > 0 {
		return true
	}
	for _, w := range q.sends.all() {
		if w.req().ID == id && !w.event.Anonymous {
			return true
		}
	}
	return false
}
