package cq

// concluded is which of the events and completions that a queue pair owes were judged to be there or to be missing.
type concluded struct {
	established bool // the event for the first packet in RTR
	flushed     bool // the completions of requests that were flushed
	refused     bool // what tells the consumer of a request that the queue pair has refused
	silent      bool // the completion of a request that was refused
	lastWQE     bool // the event that it takes no more from its shared receive queue
}

// ofError reports whether all that a queue pair owes in error was judged.
func (c *concluded) ofError() bool { return c.flushed && c.refused && c.silent && c.lastWQE }

// judgeDue judges what a queue pair owes, when the deadline for it has passed. Completions are judged when the consumer has seen that requests were flushed: it may poll late.
// Where the clock of its log is not that of the packets, all this is judged at the end.
func (a *Agent) judgeDue(q *queuePair) {
	if !q.known || !q.src.exact || a.ended {
		return
	}
	c := &q.concluded
	if at := &q.in.responded; !c.established && q.wasRTR != nil && at.Seen() && a.elapsed(q, at.Time+completionDue) {
		c.established = true
		a.unestablished(q)
	}
	if at, ok := q.erred(); ok && !c.ofError() && a.elapsed(q, at+completionMissed) {
		a.judgeError(q)
	}
}

// judgeError judges what a queue pair owes in error.
func (a *Agent) judgeError(q *queuePair) {
	c := &q.concluded
	if !c.flushed && (q.sq.flushed != nil || q.rq.flushed != nil) {
		c.flushed = true
		a.unflushed(q)
	}
	if !c.refused && (q.failing != nil || q.rq.flushed != nil) {
		c.refused = true
		a.refusing(q)
		a.refusals(q)
	}
	if !c.silent && q.sq.flushed != nil {
		c.silent = true
		a.silentError(q)
	}
	if !c.lastWQE {
		c.lastWQE = true
		a.lastWQEMissing(q)
	}
}

// elapsed reports whether all packets and events up to a time have come. If not, the queue pair is judged again then.
func (a *Agent) elapsed(q *queuePair, t int64) bool {
	if a.wire > t && q.src.goesOn(t) {
		return true
	}
	if a.wire <= t {
		a.until(q, t+1)
	}
	return false
}

// erred is when a queue pair went to the error state as a responder: it, or the NAK that it sent, shows that. ok is false where it is not there.
func (q *queuePair) erred() (at int64, ok bool) {
	if q.failed != nil {
		at, ok = q.failed.Time, true
	}
	if n := q.in.fatal; n != nil {
		at, ok = max(at, n.At.Time), true
	}
	return at, ok
}

// conclude judges what is missing of a queue pair of which nothing more comes.
func (a *Agent) conclude(q *queuePair) {
	c := &q.concluded
	if !c.flushed {
		a.unflushed(q)
	}
	a.skipped(q)
	a.leftUncompleted(q)
	if !c.refused {
		a.refusing(q)
	}
	if n := len(q.drains); n > 0 {
		a.begunInSQD(q, &q.drains[n-1])
	}
	a.decide(q)
	a.concludeStates(q)
	if !c.refused {
		a.refusals(q)
	}
	if !c.silent {
		a.silentError(q)
	}
	if !c.lastWQE {
		a.lastWQEMissing(q)
	}
	a.missingGroupCompletion(q)
	a.coverDrops(q)
	a.unseen(q)
	a.droppedDatagrams(q)
}
