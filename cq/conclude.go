package cq

// concluded is which of the events and completions that a queue pair owes were judged to be there or to be missing.
type concluded struct {
	established bool // that it told of the first packet in RTR
	failed      bool // what follows an error
}

// overdue judges what a queue pair owes, when the deadline for it has passed. Where the clock of its log is not that of the packets, that is the end.
func (a *Agent) overdue(q *queuePair) {
	if !q.known || !q.src.exact || a.ended {
		return
	}
	if at := q.in.responded; !q.concluded.established && q.wasRTR != nil && at.Seen() && a.elapsed(q, at.Time+completionDue) {
		q.concluded.established = true
		a.unestablished(q)
	}
	if at, ok := q.erred(); ok && !q.concluded.failed && a.elapsed(q, at+completionMissed) {
		q.concluded.failed = true
		a.concludeError(q)
	}
}

// elapsed reports whether all packets and events up to a time have come. If not, the queue pair is judged again then.
func (a *Agent) elapsed(q *queuePair, t int64) bool {
	if a.wire > t && (q.src.ordered || q.src.newest > t) {
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
	if n := q.in.end(); n != nil {
		at, ok = max(at, n.At.Time), true
	}
	return at, ok
}

// concludeError judges what follows an error: completions and events of the two ends, for what they refused or were refused.
func (a *Agent) concludeError(q *queuePair) {
	a.refusing(q)
	a.refusals(q)
	a.silentError(q)
	a.lastWQEMissing(q)
}

// conclude judges what is missing of a queue pair of which nothing more comes.
func (a *Agent) conclude(q *queuePair) {
	a.skipped(q)
	if !q.concluded.failed {
		a.concludeError(q)
	}
	a.concludeStates(q)
	a.uncast(q)
	a.coverDrops(q)
}
