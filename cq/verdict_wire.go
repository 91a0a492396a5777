package cq

import (
	"fmt"

	"ibwitness/hcaagent"
	"ibwitness/qp"
	"ibwitness/rule"
)

// states judges what a queue pair sent in states that do not send.
func (a *Agent) states(q *queuePair) {
	if !q.known {
		return
	}
	request, answer := q.out.first, q.in.answer
	if q.later { // of a previous connection a packet may be in flight, and its peer may go on with that
		answer = where{}
		if !q.src.clock.exact || !a.near(q.addr()) {
			request = where{}
		}
	}
	if q.complete() && (request.seen() || answer.seen()) {
		a.covered(rule.QPSINI001)
		a.covered(rule.QPSRTR001)
		switch {
		case q.wasRTR == nil:
			at, role := request, q.sender()
			if !at.seen() || answer.seen() && answer.pos < at.pos {
				at, role = answer, rule.Responder
			}
			a.accuse(q, verdict{
				rule: rule.QPSINI001, class: rule.Violation, role: role, expected: "no response: the queue pair was never in RTR",
				actual: at.op.String(), at: at,
			})
			return
		case q.wasRTS == nil && request.seen():
			a.accuse(q, verdict{
				rule: rule.QPSRTR001, class: rule.Violation, role: q.sender(), expected: "no request: the queue pair was never in RTS",
				actual: request.op.String(), at: request,
			})
			return
		}
	}
	a.silence(q, rule.QPSERR001, q.failed, "no response: the queue pair is in error")
	a.silence(q, rule.CPLCQ001, q.overrun, "no response: the completion queue of the queue pair has overrun")
	a.draining(q)
}

// ends reports whether a response is the NAK that ended the connection: the completion of a receive request that failed may come before it.
func (s *stream) ends(at where) bool {
	for i := range s.naks {
		if n := &s.naks[i]; n.syndrome.Fatal() {
			return n.at.frame == at.frame && n.at.tap == at.tap
		}
	}
	return false
}

// silence judges that a queue pair in error sends nothing.
func (a *Agent) silence(q *queuePair, id rule.ID, e *hcaagent.Event, expected string) {
	c := &q.src.clock
	if e == nil || !c.trust || id == rule.QPSERR001 && qp.DeviceTransition(q.typ, qp.RTS, qp.SQE) {
		return
	}
	a.covered(id)
	since := e.Time + c.hi
	if !c.exact || !a.near(q.addr()) { // it may still be in flight to the tap
		since += c.slack + slackSending
	}
	for i, at := range [...]where{q.out.newest, q.in.replied} {
		if at.seen() && at.time > since && !q.in.ends(at) {
			detail := ""
			if e.Line > 0 {
				detail = fmt.Sprintf("line %d of the log shows the error", e.Line)
			}
			role := q.sender()
			if i == 1 {
				role = rule.Responder
			}
			a.accuse(q, verdict{
				rule: id, class: rule.Violation, role: role, expected: expected,
				actual: at.op.String(), detail: detail, at: at, event: e,
			})
			return
		}
	}
}
