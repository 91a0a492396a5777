package cq

import (
	"ibwitness/hcaagent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// established judges the event that communication is established.
func (a *Agent) established(q *queuePair, e *hcaagent.Event) {
	a.covered(rule.QPSRTR002)
	switch {
	case q.service() == packet.UD || q.typ == qp.TypeRawPacket:
		a.verb(q, rule.QPSRTR002, e, "no event: a "+q.typ.String()+" queue pair has no connection", "communication established")
	case q.established:
		a.verb(q, rule.QPSRTR002, e, "one event", "a second event")
	}
	q.established = true
}

// moments judges what a queue pair sent by the time at which it was in a state. That takes the clock of the packets, and a tap that sees a
// packet when it leaves.
func (a *Agent) moments(q *queuePair) {
	if !q.known || !q.src.clock.exact || !a.near(q.addr()) {
		return
	}
	if at := q.out.first; q.wasRTS != nil && at.seen() {
		a.covered(rule.QPSRTS001)
		if at.time < q.wasRTS.Time {
			a.accuse(q, verdict{
				rule: rule.QPSRTS001, class: rule.Violation, role: q.sender(), expected: "no request before RTS", actual: at.op.String(), at: at, event: q.wasRTS,
			})
		}
	}
	// What answers has taken a packet.
	if at := q.in.answer; q.wasRTR != nil && at.seen() && at.time > q.wasRTR.Time && (q.wasRTS == nil || at.time < q.wasRTS.Time) {
		a.covered(rule.QPSRTR002)
		if !q.established {
			a.accuse(q, verdict{
				rule: rule.QPSRTR002, class: rule.Violation, role: rule.Responder, expected: "an event that communication is established", actual: "none",
				detail: "the queue pair responded to a packet in RTR", at: at, event: q.wasRTR,
			})
		}
	}
}
