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
}

// brokenDown notes that a queue pair has come to SQE by itself.
func (q *queuePair) brokenDown(o *order, e *Event) {
	if o == &q.sq && q.state == qp.RTS && qp.DeviceTransition(q.typ, qp.RTS, qp.SQE) {
		q.broken = append(q.broken, drain{e, math.MaxInt64})
	}
}

// drained notes when a queue pair comes to SQD and when it leaves it.
func (q *queuePair) drained(e *Event) {
	switch {
	case q.state != qp.SQD && e.State == qp.SQD:
		q.drains = append(q.drains, drain{e, math.MaxInt64})
	case q.state == qp.SQD && e.State != qp.SQD && len(q.drains) > 0:
		q.drains[len(q.drains)-1].until = e.Time
	}
	if n := len(q.broken); n > 0 && e.State != qp.SQE {
		q.broken[n-1].until = min(q.broken[n-1].until, e.Time)
	}
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
