package cq

import (
	"fmt"

	"ibwitness/qp"
	"ibwitness/rule"
)

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
	a.inTurn(q, w)
	q.doneUpTo(w)
	if c.Status == Success {
		a.covered(rule.CPLSIG001)
		if !w.signaled(q) && q.known {
			a.notSignaled(q, e)
		}
	} else if !q.reliable() && q.stopped == nil {
		q.stopped = w
	}
	a.errorOrder(q, &q.sq, e)
	a.unflushedSuccess(q, &q.sq, w.n, e)
	switch q.typ {
	case qp.TypeUC:
		a.unreliable(q, w)
	case qp.TypeUD:
		a.datagramStatus(q, w)
	}
	if c.Status == Success {
		q.sending.succeeded = q.sending.succeeded || !w.local()
		q.doneInSQD(w)
		a.carriedOut(q, w)
		if a.completed(q, w); w.foreign {
			a.foreignSent(q, w, nil)
		}
	}
	q.sending.settling = append(q.sending.settling, w)
}

// inTurn judges that the send requests before w have completed (rule CPL-ORD-001).
func (a *Agent) inTurn(q *queuePair, w *sendRequest) {
	if w.over = nil; !w.moved {
		w.over = q.markOvertaken(w)
	}
	if w.over == nil {
		w.overtaken = false
		return
	}
	if q.known && !q.sending.strayed && !q.either {
		a.verb(q, rule.CPLORD001, w.done, fmt.Sprintf("the completion of request %d, which was posted before", w.over.req().ID),
			fmt.Sprintf("that of request %d", w.done.Completion.ID))
	}
}

// doneUpTo takes over which send requests cannot complete any more as w has: those that have, and those before it that make no completion.
func (q *queuePair) doneUpTo(w *sendRequest) {
	flushed := w.done.Completion.Status == WRFlushErr
	for ; q.oldest < q.sends.end(); q.oldest++ {
		if v := q.sends.at(q.oldest); v.done == nil && (v.n >= w.n || v.signaled(q) || flushed) {
			break
		}
	}
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
	if q.ordered() {
		a.covered(rule.CPLSTS016)
	}
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
		if !r.late && q.known && !q.either && list.list.has(list.oldest) { // else all have completed, this one after later ones
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
	if a.errorOrder(q, &q.rq, t.event); t.of != nil {
		a.unflushedSuccess(q, &q.rq, t.of.n, t.event)
	}
	if t.event.Completion.Status == Success {
		q.receiving.succeeded = true
		q.receiving.completed++
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
	if !q.known {
		return
	}
	if w := q.unflushedSend(); w != nil {
		a.verb(q, rule.QPSERR002, w.event, fmt.Sprintf("WR_FLUSH_ERR for request %d", w.req().ID), "no completion, while later ones were flushed")
	}
	if r := q.unflushedReceive(); r != nil {
		a.verb(q, rule.QPSERR002, r.event, fmt.Sprintf("WR_FLUSH_ERR for receive request %d", r.event.Receive.ID), "no completion, while later ones were flushed")
	}
}

// unflushedSend is the oldest such send request, or nil.
func (q *queuePair) unflushedSend() *sendRequest {
	if q.sq.flushed == nil {
		return nil
	}
	for _, w := range q.sends.all() {
		if w.done == nil && w.overtaken && w.n > 0 && !w.flushed && !w.renamed {
			return w
		}
	}
	return nil
}

// unflushedReceive is the oldest such receive request, or nil. Of a shared queue others may have taken them.
func (q *queuePair) unflushedReceive() *receive {
	if q.rq.flushed == nil || q.recvs.shared {
		return nil
	}
	for _, r := range q.recvs.list.all() {
		if !r.done && r.late && !r.renamed {
			return r
		}
	}
	return nil
}

// skipped judges, at the end, the signalled send requests of a queue pair that later ones have passed over and that never completed.
func (a *Agent) skipped(q *queuePair) {
	if !q.known || q.sq.flushed != nil { // else those that were not flushed were told
		return
	}
	for _, w := range q.sends.all() {
		switch {
		case !w.signaled(q):
		case w.done != nil:
			a.covered(rule.CPLSIG003)
		case w.overtaken && !w.renamed && !w.passed:
			a.covered(rule.CPLSIG003)
			a.verb(q, rule.CPLSIG003, w.event, fmt.Sprintf("a completion of request %d", w.req().ID), "none, while later ones came")
		}
	}
}
