package cq

import (
	"fmt"

	"ibwitness/rule"
)

// fenced is a message with the fence indicator that left before a READ or atomic was known to be answered.
type fenced struct {
	begin PacketRef
	w, v  *sendRequest // its request, and the newest READ or atomic before that
}

// fence judges that all earlier READs and atomics were answered when a request left.
func (a *Agent) fence(q *queuePair, m *Message, w *sendRequest) {
	if !q.reliable() || a.Lossy || m.First < q.out.joined {
		return
	}
	a.covered(rule.RCFEN001)
	for i := q.sends.end() - 1; i >= q.sends.first(); i-- {
		if v := q.sends.at(i); v.response() && v.first < w.first {
			q.sending.fences = append(q.sending.fences, fenced{m.Begin, w, v})
			return // the newest is enough: answers come in order
		}
	}
}

// answeredFences judges the requests with the fence indicator that wait for the answer to an earlier one.
func (a *Agent) answeredFences(q *queuePair) {
	for len(q.sending.fences) > 0 {
		f := &q.sending.fences[0]
		at := q.answered(f.v)
		if at == nil {
			return
		}
		if f.begin.Pos < at.Pos && f.begin.Time+q.src.slackRecord() < at.Time {
			a.assumes |= rule.AssumesWhole
			a.accuse(q, verdict{
				Verdict: rule.Verdict{
					Rule: rule.RCFEN001, Class: rule.Violation, Role: rule.Requester,
					Expected: fmt.Sprintf("request %d after the response to request %d: it has the fence indicator", f.w.req().ID, f.v.req().ID),
					Actual:   "it was sent before the response", Evidence: []uint64{at.Frame},
				},
				at: f.begin, event: f.w.event,
			})
		}
		q.sending.fences = q.sending.fences[1:]
	}
}
