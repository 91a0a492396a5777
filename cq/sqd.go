package cq

import (
	"fmt"
	"math"

	"ibwitness/qp"
	"ibwitness/rule"
)

// drain is a time that a queue pair was in SQD.
type drain struct {
	event *Event // that brought it there
	until int64
	n     int          // of the event in the log
	began *sendRequest // the first that was posted there, and completed there with success
}

// resumes is how long before the line that tells of it a queue pair may have left SQD at most: another thread polls completions meanwhile.
const resumes = int64(10e6)

// brokenDown notes that a queue pair has come to SQE by itself.
func (q *queuePair) brokenDown(o *order, e *Event) {
	if o == &q.sq && q.state == qp.RTS && qp.DeviceTransition(q.typ, qp.RTS, qp.SQE) {
		q.broken = append(q.broken, drain{event: e, until: math.MaxInt64})
	}
}

// drained notes when a queue pair comes to SQD and when it leaves it.
func (a *Agent) drained(q *queuePair, e *Event) {
	switch {
	case q.state != qp.SQD && e.State == qp.SQD:
		q.drains = append(q.drains, drain{event: e, until: math.MaxInt64, n: q.src.n})
	case q.state == qp.SQD && e.State != qp.SQD && len(q.drains) > 0:
		d := &q.drains[len(q.drains)-1]
		d.until = e.Time
		a.begunInSQD(q, d)
	}
	if n := len(q.broken); n > 0 && e.State != qp.SQE {
		q.broken[n-1].until = min(q.broken[n-1].until, e.Time)
	}
}

// doneInSQD takes over that a request has completed with success: where it was posted in SQD, and the queue pair is there yet, it was begun there.
func (q *queuePair) doneInSQD(w *sendRequest) {
	if q.state != qp.SQD || len(q.drains) == 0 || w.local() {
		return
	}
	if d := &q.drains[len(q.drains)-1]; d.began == nil && w.n > d.n {
		d.began = w
	}
}

// begunInSQD judges, when a queue pair leaves SQD or nothing more comes of it, that no request was begun there (rule QPS-SQD-001), as far as events show it.
func (a *Agent) begunInSQD(q *queuePair, d *drain) {
	if !q.known || d.began == nil || q.sending.inSQD || q.astray || d.until-resumes <= d.began.done.Time {
		return
	}
	a.covered(rule.QPSSQD001)
	q.sending.inSQD = true
	a.stray(q, verdict{
		Verdict: rule.Verdict{
			Rule: rule.QPSSQD001, Class: rule.Violation, Role: q.sender(), Expected: "no request begun: the queue pair is in SQD",
			Actual: fmt.Sprintf("request %d, posted there, completes with success", d.began.req().ID),
		},
		event: d.began.done,
	})
}

// draining judges that a message does not begin in SQD, nor in SQE. That takes the clock of the packets, and a tap that sees a packet when it leaves.
func (a *Agent) draining(q *queuePair, m *Message) {
	if len(q.drains) == 0 && len(q.broken) == 0 || !q.known || !q.src.exact || !a.near(q.addr()) || !q.out.anchor || m.Partial {
		return
	}
	s := &q.sending
	s.inSQD = s.inSQD || a.beginning(q, m, rule.QPSSQD001, q.drains, "no new message: the queue pair is in SQD")
	s.inSQE = s.inSQE || a.beginning(q, m, rule.QPSSQE001, q.broken, "no packet: the queue pair is in SQE")
}

// beginning judges that a message does not begin in one of the times. It reports whether it does.
func (a *Agent) beginning(q *queuePair, m *Message, id rule.ID, times []drain, expected string) bool {
	if len(times) == 0 {
		return false
	}
	a.covered(id)
	for _, d := range times {
		if m.Begin.Time <= d.event.Time || m.Begin.Time >= d.until {
			continue
		}
		a.accuse(q, verdict{
			Verdict: rule.Verdict{
				Rule: id, Class: rule.Violation, Role: q.sender(), Expected: expected, Actual: m.Op.String(),
				Detail: fmt.Sprintf("message of %d packets", m.Packets),
			},
			at: m.Begin, event: d.event,
		})
		return true
	}
	return false
}

// drainEvent is that the consumer asked a queue pair to tell when its send queue has drained.
type drainEvent struct {
	event *Event // that asked for it, with the transition to SQD; nil: none did, or it has told
	n     int    // of that in the log
	told  bool   // it was reported to be missing
}

// undrained judges that a queue pair has told that its send queue has drained. That takes the clock of the packets: what a host was told may be in no log.
func (a *Agent) undrained(q *queuePair) {
	d := &q.drain
	if d.event == nil || d.told || !q.drainsOpenly() {
		return
	}
	at, ok := a.drainedAt(q)
	if !ok {
		return
	}
	v := verdict{
		Verdict: rule.Verdict{Rule: rule.QPSSQD002, Class: rule.Violation, Expected: "an event that the send queue has drained: all that was begun is finished", Actual: "none"},
		event:   d.event,
	}
	switch over := at + completionDue; {
	case a.ended && q.src.newest <= over && (!q.src.ordered || a.wire <= over):
		v.Class, v.Detail = rule.Unproven, "the log ends early: the event may come yet"
	case !a.ended && !a.elapsed(q, over):
		return
	}
	d.told = true
	a.covered(rule.QPSSQD002)
	a.accuse(q, v)
}

// drainsOpenly reports whether nothing keeps a queue pair in SQD from draining, and its log tells that it has.
func (q *queuePair) drainsOpenly() bool {
	return q.known && q.src.exact && !q.src.cut && q.failed == nil && !q.gone && q.overrun == nil
}

// drainedAt is when all requests were finished that a queue pair had begun when it came to SQD. ok is false where they are not, or that is not certain.
func (a *Agent) drainedAt(q *queuePair) (at int64, ok bool) {
	at = q.drain.event.Time
	for _, w := range q.sends.from(q.oldest) {
		if w.n > q.drain.n {
			break
		}
		if w.done != nil {
			continue
		}
		ack := q.answered(w)
		switch {
		case w.local() || q.packetsUncertain(w) || ack == nil && !a.unbegun(q, w):
			return 0, false
		case ack != nil:
			at = max(at, ack.Time)
		}
	}
	for _, w := range q.sends.all() {
		if w.done != nil && w.n < q.drain.n {
			at = max(at, w.done.Time)
		}
	}
	return at, true
}

// unbegun reports whether a request was not begun: a tap near its queue pair has shown no packet of it.
func (a *Agent) unbegun(q *queuePair, w *sendRequest) bool {
	return a.shows(q.addr()) && q.out.followed() && (w.first >= q.out.high || !q.out.first.Seen())
}
