package cq

import (
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// established judges the event that communication is established.
func (a *Agent) established(q *queuePair, e *Event) {
	a.covered(rule.QPSRTR002)
	switch {
	case q.service() == packet.UD || q.typ == qp.TypeRawPacket:
		a.verb(q, rule.QPSRTR002, e, "no event: a "+q.typ.String()+" queue pair has no connection", "communication established")
	case q.established:
		a.verb(q, rule.QPSRTR002, e, "one event", "a second event")
	}
	q.established = true
}

// unestablished judges that a queue pair which has answered in RTR has told of the packet. That takes the clock of the packets, and a tap that sees a packet
// when it leaves.
func (a *Agent) unestablished(q *queuePair) {
	at := q.in.responded
	if !q.src.exact || !a.near(q.addr()) || q.wasRTR == nil || !at.Seen() || at.Time <= q.wasRTR.Time || q.wasRTS != nil && at.Time >= q.wasRTS.Time {
		return
	}
	if !q.established && !q.src.goesOn(at.Time) {
		return // the log may end before the event
	}
	a.covered(rule.QPSRTR002)
	if !q.established {
		a.accuse(q, verdict{
			Verdict: rule.Verdict{
				Rule: rule.QPSRTR002, Class: rule.Violation, Role: rule.Responder,
				Expected: "an event that communication is established", Actual: "none",
				Detail: "the queue pair responded to a packet in RTR",
			},
			at: at, event: q.wasRTR,
		})
	}
}
