package cq

import (
	"fmt"
	"math"

	"ibwitness/hcaagent"
	"ibwitness/rule"
)

// drain is a time that a queue pair was in SQD.
type drain struct {
	event *hcaagent.Event // that brought it there
	until int64
}

// drained notes when a queue pair comes to SQD and when it leaves it.
func (q *queuePair) drained(e *hcaagent.Event) {
	switch {
	case q.state != hcaagent.SQD && e.State == hcaagent.SQD:
		q.drains = append(q.drains, drain{e, math.MaxInt64})
	case q.state == hcaagent.SQD && e.State != hcaagent.SQD && len(q.drains) > 0:
		q.drains[len(q.drains)-1].until = e.Time
	}
}

// draining judges that no message begins in SQD. That takes the clock of the packets, and a tap that sees a packet when it leaves.
func (a *Agent) draining(q *queuePair) {
	if len(q.drains) == 0 || !q.src.clock.exact || !a.near(q.addr()) || !q.out.anchor {
		return
	}
	a.covered(rule.QPSSQD001)
	for i := range q.out.msgs {
		m := &q.out.msgs[i]
		for _, d := range q.drains {
			if m.partial || m.begin.time <= d.event.Time || m.begin.time >= d.until {
				continue
			}
			a.accuse(q, verdict{
				rule: rule.QPSSQD001, class: rule.Violation, role: q.sender(), expected: "no new message: the queue pair is in SQD",
				actual: m.op.String(), detail: fmt.Sprintf("message of %d packets", m.packets), at: m.begin, event: d.event,
			})
			return
		}
	}
}
