package cq

import (
	"fmt"

	"ibwitness/qp"
	"ibwitness/rule"
)

// inError is the first event that shows a queue pair in ERR, as its consumer brought it there or was told so: what is posted after that is flushed.
type inError struct {
	event *Event // nil: none
	n     int    // of that in the log
}

// showsError takes over that a queue pair is in ERR, or in another state that it was brought to.
func (q *queuePair) showsError(e *Event) {
	switch {
	case e.State != qp.Err:
		q.shownErr = inError{}
	case q.shownErr.event == nil:
		q.shownErr = inError{e, q.src.n}
	}
}

// unflushedSuccess judges a completion with success of a request that was posted in ERR, by event n of the log (rule QPS-ERR-002). The first tells of it.
func (a *Agent) unflushedSuccess(q *queuePair, o *order, n int, e *Event) {
	s := &q.sending
	if !q.known || q.shownErr.event == nil || n <= q.shownErr.n || e.Completion.Status != Success || s.inError || q.astray || o.told {
		return
	}
	a.covered(rule.QPSERR002)
	s.inError = true
	v := verdict{
		Verdict: rule.Verdict{
			Rule: rule.QPSERR002, Class: rule.Violation, Expected: "WR_FLUSH_ERR: the request was posted in ERR", Actual: fmt.Sprintf("request %d with success", e.Completion.ID),
		},
		event: e,
	}
	if line := q.shownErr.event.Line; line > 0 {
		v.Detail = fmt.Sprintf("line %d of the log shows the error", line)
	}
	a.stray(q, v)
}

// receivedInError judges a completion with success of a receive request, posted before, that took a message which came in ERR.
func (x comparison) receivedInError() {
	q, since := x.q, x.q.shownErr.event
	s := &q.sending
	if !q.known || since == nil || s.inError || q.astray || x.t.guessed || q.rq.told || !q.src.clock.before(since.Time, x.m.Begin.Time) {
		return
	}
	x.a.covered(rule.QPSERR002)
	s.inError = true
	x.differs(rule.QPSERR002, "WR_FLUSH_ERR: the queue pair was in ERR when the message came", "success")
}

// answersInError judges, where the clock of the log is not that of the packets, that a queue pair answers no request that came in ERR (rule QPS-ERR-001): its answer cannot have been on its
// way before.
func (a *Agent) answersInError(q *queuePair) {
	s, since := &q.sending, q.shownErr.event
	if since == nil || s.inError || q.astray || q.src.exact {
		return
	}
	s.inError = a.answersSince(q, since, rule.QPSERR001, "no response: the queue pair is in error")
}

// answersDestroyed judges that a queue pair answers no request that came after it was destroyed (rule QPS-RST-001). Where its number was used again, it may be the next one that does.
func (a *Agent) answersDestroyed(q *queuePair) {
	list := q.src.qps[q.qpn]
	if q.destroy == nil || q.sending.inError || q.astray || len(list) == 0 || list[len(list)-1] != q {
		return
	}
	a.answersSince(q, q.destroy, rule.QPSRST001, "no response: the queue pair was destroyed")
}

// answersSince reports the first request that a queue pair has answered although it came after an event, and whether there is one. It follows the message before it, so that it is none of
// another connection.
func (a *Agent) answersSince(q *queuePair, since *Event, id rule.ID, expected string) bool {
	if !q.known || !q.reliable() {
		return false
	}
	var follows int64
	for _, m := range q.in.msgs.all() {
		x := executionOf(q, m)
		whole := !m.Partial && m.First == follows
		follows = m.Last() + 1
		if !x.done || !whole || !q.src.over(since, m.Begin.Time) {
			continue
		}
		a.covered(id)
		a.assumes = rule.AssumesWhole // else what it answers may have come before
		v := verdict{
			Verdict: rule.Verdict{Rule: id, Class: rule.Violation, Role: rule.Responder, Expected: expected, Actual: x.at.Op.String(), Evidence: []uint64{m.Begin.Frame}},
			at:      x.at, event: since,
		}
		if since.Line > 0 {
			v.Detail = fmt.Sprintf("line %d of the log shows that", since.Line)
		}
		a.accuse(q, v)
		a.assumes = 0
		return true
	}
	return false
}
