package cq

import (
	"fmt"

	"ibwitness/qp"
	"ibwitness/rule"
)

// completion finds the work request of a completion, and judges its order.
func (a *Agent) completion(s *Source, e *Event) {
	c := e.Completion
	q := a.qp(s, c.QP.QPN)
	if q == nil {
		q = a.life(s, c.QP.QPN, e)
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
	var w *sendRequest
	var r *receive
	// What waited in the queue when the queue pair was reset is of its previous connection.
	for lives := s.qps[q.qpn]; w == nil && r == nil && len(lives) > 0; lives = lives[:len(lives)-1] {
		p := lives[len(lives)-1]
		if p.unready(c) {
			continue
		}
		if w, r = p.request(c); w != nil || r != nil {
			q = p
		}
	}
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

// unready reports whether q has been reset, and not been in a state since in which one of its requests can end as c says.
func (q *queuePair) unready(c *Completion) bool {
	return q.later && (q.state < qp.RTR || q.wasRTR == nil && c.Status == Success)
}

// request returns the request that a completion is of, of either queue. With an error the completion does not say which queue that is, and
// an ID may be in use in both.
func (q *queuePair) request(c *Completion) (w *sendRequest, r *receive) {
	if c.Status != Success || c.Op >= DoneRecv {
		r = q.openReceive(c.ID)
	}
	if c.Status != Success && r == nil || c.Status == Success && c.Op < DoneRecv {
		w = q.openSend(c)
	} else if c.Status != Success {
		if v := q.openSend(c); v != nil && v == q.oldestSend() {
			w = v
		}
	}
	return w, r
}

// over notes that a request is complete, in a way that has been reported as wrong.
func (q *queuePair) over(e *Event) {
	switch w, r := q.request(e.Completion); {
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

// openSend returns the oldest send request that is not completed and has the ID of the completion, or nil.
func (q *queuePair) openSend(c *Completion) *sendRequest {
	var renamed *sendRequest
	for _, w := range q.sends.from(q.oldest) {
		if w.done == nil && (w.req().ID == c.ID && !w.event.Anonymous || w.event.Anonymous && (c.Status != Success || c.Op == DoneBindMW) && !q.hasPosted(c.ID)) {
			if !w.renamed {
				return w
			}
			renamed = w
		}
	}
	return renamed
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
	if q.sends.end() > q.sends.first() && q.otherID(e) || q.sending.strayed && (e.Completion.Status != Success || e.Completion.Op < DoneRecv) {
		return // a finding has told of it
	}
	if q.hasPosted(id) {
		if e.Completion.Op >= DoneRecv && q.doubledFrom == 0 {
			q.doubledFrom = q.src.n
		}
		if q.otherReceive(e) {
			return
		}
		a.verb(q, rule.CPLORD002, e, fmt.Sprintf("one completion of request %d", id), "a second completion")
		return
	}
	if e.Completion.Status == Success {
		q.rename(e)
	}
	a.verb(q, rule.CPLORD002, e, "a completion of a request that was posted", fmt.Sprintf("request %d, which was not", id))
	switch {
	case e.Completion.Status != Success:
	case e.Completion.Op < DoneRecv:
		if q.sending.unposted = true; q.sending.unknown == nil {
			q.sending.unknown = map[uint64]*Event{}
		}
		if len(q.sending.unknown) < mostUnknown {
			q.sending.unknown[id] = e
		}
	case !q.recvs.unposted:
		q.recvs.unposted = true
		a.doubtLimit(q)
	}
}

// mostUnknown is how many completions of send requests that were not posted are kept of a queue pair, whose posting may be told later.
const mostUnknown = 64

// unsignaled judges a completion with success of a send request that is not signalled, and that one after it has completed already.
func (a *Agent) unsignaled(q *queuePair, e *Event) bool {
	if e.Completion.Status != Success || e.Completion.Op >= DoneRecv {
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
	if e.Completion.Status != Success || e.Completion.Op >= DoneRecv {
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
	if e.Completion.Status != Success || e.Completion.Op < DoneRecv {
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

// sendDone judges the completion of a send request.
func (a *Agent) sendDone(q *queuePair, w *sendRequest, e *Event) {
	c := e.Completion
	w.done, w.doneN = e, q.src.n
	a.covered(rule.CPLORD001)
	a.covered(rule.CPLORD002)
	a.covered(rule.CPLIMD001)
	a.covered(rule.CPLQP001)
	if q.known && q.reliable() && !w.local() {
		a.covered(rule.CPLSTS016)
	}
	var over *sendRequest
	if !w.moved {
		over = q.markOvertaken(w)
	}
	if w.over = over; over != nil && q.known && !q.sending.strayed {
		a.verb(q, rule.CPLORD001, e, fmt.Sprintf("the completion of request %d, which was posted before", over.req().ID),
			fmt.Sprintf("that of request %d", c.ID))
	}
	if over == nil {
		w.overtaken = false
	}
	for ; q.oldest < q.sends.end(); q.oldest++ {
		if v := q.sends.at(q.oldest); v.done == nil && (v.n >= w.n || v.signaled(q) || c.Status == WRFlushErr) {
			break
		}
	}
	if c.Status == Success {
		a.covered(rule.CPLSIG001)
		if !w.signaled(q) && q.known {
			a.notSignaled(q, e)
		}
	}
	if c.Status != Success && !q.reliable() && q.stopped == nil {
		q.stopped = w
	}
	a.errorOrder(q, &q.sq, e)
	switch q.typ {
	case qp.TypeUC:
		a.unreliable(q, w)
	case qp.TypeUD:
		a.datagramStatus(q, w)
	}
	if c.Status == Success {
		a.carriedOut(q, w)
		if a.completed(q, w); w.foreign {
			a.foreignSent(q, w, nil)
		}
	}
	q.sending.settling = append(q.sending.settling, w)
}

// markOvertaken marks the requests before w that owe a completion, and returns the oldest of them, or nil. An unsignaled one that has succeeded makes none; one that is
// flushed does.
func (q *queuePair) markOvertaken(w *sendRequest) (oldest *sendRequest) {
	flushed := w.done.Completion.Status == WRFlushErr && q.sq.failed != nil
	for _, v := range q.sends.from(q.oldest) {
		if v == w {
			break
		}
		if v.done == nil && !v.overtaken && (v.signaled(q) || flushed) {
			if oldest == nil {
				oldest = v
			}
			v.overtaken = true
		}
	}
	return oldest
}

// receiveDone judges the completion of a receive request.
func (a *Agent) receiveDone(q *queuePair, r *receive, e *Event) {
	r.done = true
	a.covered(rule.CPLORD002)
	if r.queue.shared {
		a.belowLimit(q, r, e)
		a.covered(rule.CPLSRQ002)
		if e.Completion.Status == WRFlushErr {
			if q.flushed++; q.flushed == 2 && q.known {
				a.verb(q, rule.CPLSRQ002, e, "the requests left in the shared receive queue", "a request of it flushed")
			}
		}
	}
	list := r.queue
	for ; list.oldest < list.list.end(); list.oldest++ {
		if x := list.list.at(list.oldest); x == r || !x.done && !x.late {
			break
		}
	}
	if !list.shared {
		a.covered(rule.CPLORD001)
		if !r.late && q.known && list.list.has(list.oldest) { // else all have completed, this one after later ones
			a.afterOthers(q, r, e)
		}
	}
	a.invalidReceive(q, r, e)
	a.addReceiveCompletion(q, a.receiveCompletions.Put(receiveCompletion{event: e, of: r, n: q.src.n}))
}

// afterOthers judges that the requests before r have completed (rule CPL-ORD-001).
func (a *Agent) afterOthers(q *queuePair, r *receive, e *Event) {
	left := r.queue.list.from(r.queue.oldest)
	if left[0] == r {
		return
	}
	a.verb(q, rule.CPLORD001, e, fmt.Sprintf("the completion of receive request %d, which was posted before", left[0].event.Receive.ID),
		fmt.Sprintf("that of request %d", e.Completion.ID))
	r.over, q.receiving.moved = left[0], true
	for _, x := range left {
		if x == r {
			break
		}
		x.late = true // reported once
	}
}

// addReceiveCompletion takes over a receive completion.
func (a *Agent) addReceiveCompletion(q *queuePair, t *receiveCompletion) {
	if r := &q.receiving; q.known && q.reliable() && q.recvs.shared {
		t.unlisted, r.unposted = r.unposted, 0
	}
	if q.ordered() && t.of != nil {
		if r := &q.receiving; t.of.place == r.last {
			t.unlisted = r.unposted // else it is the request passed over that has completed by another ID
		}
		q.receiving.unposted, q.receiving.last = 0, t.of.place+1
	}
	q.newestReceive, q.polledAt = t, max(q.polledAt, t.event.Time)
	if s := t.event.Completion.Status; q.failing == nil && s != Success && s != WRFlushErr {
		q.failing = t
	}
	a.errorOrder(q, &q.rq, t.event)
	if t.event.Completion.Status == Success {
		a.deniedTaken(q, t)
	}
	q.receiving.waiting = append(q.receiving.waiting, t)
}

// errorOrder judges the statuses of one queue in their order.
func (a *Agent) errorOrder(q *queuePair, o *order, e *Event) {
	c := e.Completion
	a.covered(rule.CPLORD004)
	switch c.Status {
	case Success:
		if (o.failed != nil || o.flushed != nil) && !o.told {
			o.told = true
			a.verb(q, rule.CPLORD004, e, "WR_FLUSH_ERR: the queue pair is in error", fmt.Sprintf("request %d with success", c.ID))
		}
		return
	case WRFlushErr:
		a.covered(rule.CPLORD003)
		a.covered(rule.QPSERR002)
		if o.flushed == nil {
			o.flushed = e
		}
	default:
		a.covered(rule.CPLORD003)
		a.covered(rule.QPSERR002)
		switch {
		case o.flushed != nil:
			a.verb(q, rule.CPLORD003, e, "WR_FLUSH_ERR: requests were flushed before", fmt.Sprintf("request %d with %v", c.ID, c.Status))
		case o.failed != nil:
			a.verb(q, rule.QPSERR002, e, "WR_FLUSH_ERR: an earlier request failed", fmt.Sprintf("request %d with %v", c.ID, c.Status))
		default:
			o.failed = e
			q.brokenDown(o, e)
		}
	}
	if q.failed == nil {
		q.failed = e
	}
}

// unflushed judges the requests that later ones have passed over, which were flushed, and that have not completed.
func (a *Agent) unflushed(q *queuePair) {
	if q.known && q.sq.flushed != nil {
		for _, w := range q.sends.all() {
			if w.done == nil && w.overtaken && w.n > 0 && !w.flushed && !w.renamed {
				a.verb(q, rule.QPSERR002, w.event, fmt.Sprintf("WR_FLUSH_ERR for request %d", w.req().ID), "no completion, while later ones were flushed")
				break
			}
		}
	}
	if q.known && q.rq.flushed != nil && !q.recvs.shared {
		for _, r := range q.recvs.list.all() {
			if !r.done && r.late && !r.renamed {
				a.verb(q, rule.QPSERR002, r.event, fmt.Sprintf("WR_FLUSH_ERR for receive request %d", r.event.Receive.ID), "no completion, while later ones were flushed")
				break
			}
		}
	}
}

// skipped judges, at the end, the send requests of a queue pair whose requests are all signalled that later ones have passed over and that never completed.
func (a *Agent) skipped(q *queuePair) {
	if q.made == nil || !q.made.SignalAll {
		return
	}
	for _, w := range q.sends.all() {
		if w.done != nil {
			a.covered(rule.CPLSIG003)
		}
		if w.done == nil && w.overtaken && !w.renamed {
			a.covered(rule.CPLSIG003)
			a.verb(q, rule.CPLSIG003, w.event, fmt.Sprintf("a completion of request %d", w.req().ID), "none, while later ones came")
		}
	}
}
