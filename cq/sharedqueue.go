package cq

import (
	"fmt"

	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// limit is what a shared receive queue is armed with.
type limit struct {
	known bool // the log tells of it
	count int  // 0: it is not armed
	n     int  // of the event in the log that armed it
	late  bool // its event was reported to be missing, and may yet come
}

// limitReached judges the event of a shared receive queue.
func (a *Agent) limitReached(s *Source, e *Event) {
	r := s.shared[e.SRQ]
	if r == nil || !r.limit.known {
		return
	}
	a.covered(rule.CPLSRQ003)
	if r.limit.count == 0 && !r.limit.late {
		a.device(s, rule.CPLSRQ003, e, fmt.Sprintf("no event: the limit of shared receive queue %d is not armed", e.SRQ), "an event")
	}
	r.limit.count, r.limit.late = 0, false
}

// belowLimit judges, when a request of a shared receive queue has completed, whether the event of its limit is overdue: at most so many
// requests are left as were posted and have not completed, and this one was taken after the queue was armed.
func (a *Agent) belowLimit(q *queuePair, r *receive, e *Event) {
	list := r.queue
	list.completed++
	left := list.list.end() - list.completed
	if list.limit.count > 0 && q.src.exact {
		a.covered(rule.CPLSRQ003)
	}
	if l := &list.limit; q.src.exact && l.count > 0 && r.n > l.n && left < l.count {
		v := verdict{
			Verdict: rule.Verdict{
				Rule: rule.CPLSRQ003, Class: rule.Violation, Actual: "none",
				Expected: fmt.Sprintf("an earlier event: at most %d requests are left in the shared receive queue, the limit is %d", left, l.count),
			},
			event: e,
		}
		if list.unposted {
			v.Class, v.Detail = rule.Unproven, notAllPosted
		}
		a.accuse(q, v)
		l.count, l.late = 0, true
	}
}

const notAllPosted = "a receive request completed that was not posted: there may be more that are not told"

// doubtLimit takes over that more requests may have been posted to a shared receive queue than its log tells.
func (a *Agent) doubtLimit(q *queuePair) {
	for i := range a.rec.Findings {
		if f := &a.rec.Findings[i]; f.Rule == rule.CPLSRQ003 && f.Accused.Addr == q.addr() && f.Accused.QPNKnown {
			a.rec.Doubt(i, notAllPosted)
		}
	}
}

// sharedReady judges that a shared receive queue was empty where an RNR NAK says so: every message takes one request of those that were
// posted, whichever (rule RC-RSP-020). On XRC the message names the queue.
func (a *Agent) sharedReady(q *queuePair, n *NAK) {
	if !q.src.exact || q.receiving.wrongRNR || !a.shows(q.addr()) {
		return
	}
	a.covered(rule.RCRSP020)
	m := q.in.Find(n.Ord)
	if m == nil || m.Begin.Pos > n.At.Pos { // what was refused was not seen, but what was retransmitted later
		return
	}
	queue := q.recvs
	if q.typ == qp.TypeXRCTarget {
		queue = q.src.shared[srqOf(m)]
	}
	if queue == nil {
		return
	}
	posted, used := queue.postedBefore(m.Begin.Time), queue.used
	for _, p := range a.lives {
		if p.src == q.src && (p.recvs == queue || p.typ == qp.TypeXRCTarget) {
			used += p.usedOf(n.At.Pos, m, queue)
		}
	}
	if posted > used {
		q.receiving.wrongRNR = true
		a.accuse(q, verdict{
			Verdict: rule.Verdict{
				Rule: rule.RCRSP020, Class: rule.Violation, Role: rule.Responder,
				Expected: fmt.Sprintf("the message accepted: at most %d of %d receive requests of the shared queue are used", used, posted),
				Actual:   n.Syndrome.String(), Evidence: []uint64{m.Begin.Frame},
			},
			at: n.At, expects: syndrome("an ACK: a receive request was there"),
		})
	}
}

// postedBefore is how many requests were posted to a receive queue before a time.
func (r *receiveQueue) postedBefore(t int64) int {
	n := r.list.first()
	for _, x := range r.list.all() {
		if x.event.Time < t {
			n++
		}
	}
	return n
}

// srqOf is the shared receive queue that a message to an XRC target names.
func srqOf(m *Message) wqe.SRQ { return wqe.SRQ(m.SRQ) }

// usedOf is how many requests of a shared receive queue the messages to a queue pair can have taken up to a packet, without the one that was
// refused.
func (q *queuePair) usedOf(pos int, refused *Message, queue *receiveQueue) (n int) {
	for _, m := range q.in.msgs.all() {
		if q.recvs != queue && wqe.SRQ(m.SRQ) != queue.number {
			continue
		}
		if m != refused && m.Begin.Pos <= pos && m.mayConsume() {
			n++
		}
	}
	return n + q.in.openBefore(pos)
}

// lastTaken judges the event that a queue pair in error has taken its last request from a shared receive queue.
func (a *Agent) lastTaken(q *queuePair, e *Event) {
	a.covered(rule.QPSDST001)
	switch {
	case !q.recvs.shared:
		a.verb(q, rule.QPSDST001, e, "no event: the queue pair has a receive queue of its own", "an event")
	case q.lastWQE:
		a.verb(q, rule.QPSDST001, e, "one event", "a second event")
	}
	q.lastWQE = true
}

// lastWQEMissing judges that it came.
func (a *Agent) lastWQEMissing(q *queuePair) {
	if !q.known || !q.src.exact || !q.recvs.shared || q.typ != qp.TypeRC || q.failed == nil {
		return
	}
	a.covered(rule.QPSDST001)
	if !q.lastWQE {
		a.verb(q, rule.QPSDST001, q.failed, "an event: the queue pair uses no more requests of its shared receive queue", "none")
	}
}
