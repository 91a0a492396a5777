package cq

import (
	"fmt"

	"ibwitness/qp"
	"ibwitness/rule"
)

// emitted judges that a queue pair sends a packet, by the state that it is in.
func (a *Agent) emitted(q *queuePair, at *PacketRef, response bool) {
	if q == nil || !q.known {
		return
	}
	if !response && q.src.exact && q.out.lead > 0 && at.Pos == q.out.first.Pos {
		a.starts(q)
	}
	if response && !q.receiving.answered {
		a.answersFirst(q, at)
	}
	if q.failed != nil && len(q.sending.settling) > 0 { // whether that has a reason the packets up to this one tell
		a.settle(q)
	}
	if q.src.exact { // else the clocks are known best at the end
		a.tellPremature(q)
		a.premature(q, at, response)
		a.silences(q, at, response)
	}
}

// answersFirst takes over when a queue pair has answered for the first time: it was in RTR before.
func (a *Agent) answersFirst(q *queuePair, at *PacketRef) {
	if q.receiving.answered = true; q.wasRTR != nil && !q.later && q.in.anchor && q.in.first.Seen() && q.in.joined == 0 {
		a.leaves(q.src, q.wasRTR.Time, at.Time)
	}
}

// starts judges the PSN of the first request of a queue pair: it is not before the start PSN.
func (a *Agent) starts(q *queuePair) {
	id, at := rule.RCPSN001, q.out.first
	switch q.typ {
	case qp.TypeUC:
		id = rule.UCPSN001
	case qp.TypeUD:
		return // a verifier of packets does
	}
	a.covered(id)
	if q.out.early {
		a.accuse(q, verdict{
			Verdict: rule.Verdict{Rule: id, Class: rule.Violation, Role: q.sender(), Expected: "start PSN " + q.out.due.String(), Actual: "PSN " + at.PSN.String()},
			at:      at, event: q.wasRTS,
		})
	}
}

// premature judges a packet of a queue pair that has not come to RTR, and a request of one that has not come to RTS.
func (a *Agent) premature(q *queuePair, at *PacketRef, response bool) {
	if q.sending.premature || q.later && (response || !q.src.exact || !a.near(q.addr())) { // of a previous connection a packet may be in flight, and its peer may go on with that
		return
	}
	a.covered(rule.QPSINI001)
	a.covered(rule.QPSRTR001)
	if q.wasRTR != nil && (q.wasRTS != nil || response) {
		return
	}
	v := verdict{Verdict: rule.Verdict{Class: rule.Violation, Role: q.sender(), Actual: at.Op.String()}, at: *at}
	if response {
		v.Role = rule.Responder
	}
	if q.wasRTR == nil {
		v.Rule, v.Expected = rule.QPSINI001, "no packet: the queue pair has not come to RTR"
	} else {
		v.Rule, v.Expected = rule.QPSRTR001, "no request: the queue pair has not come to RTS"
	}
	q.sending.premature = true
	if q.src.exact {
		q.sending.early = &v
		a.tellPremature(q)
		return
	}
	a.stray(q, v)
}

// tellPremature reports the packet that came before the state for it, if the log goes on after that: else it may only end early.
func (a *Agent) tellPremature(q *queuePair) {
	v := q.sending.early
	if v == nil || q.src.comes(v.at.Time) {
		return
	}
	if q.sending.early = nil; !q.src.goesOn(v.at.Time) {
		v.Class, v.Detail = rule.Unproven, "the log may end before the queue pair came to that state"
	}
	a.stray(q, *v)
}

// concludeStates judges what only all the events of a queue pair tell: that it never came to a state, where its log has a clock of its own, and that it did
// not tell of the first packet that came in RTR.
func (a *Agent) concludeStates(q *queuePair) {
	if !q.known {
		return
	}
	if request, response := q.out.first, q.in.responded; !q.src.exact && q.complete(q.out.newest.Time) {
		if response.Seen() && (!request.Seen() || response.Pos < request.Pos) {
			a.premature(q, &response, true)
		}
		if request.Seen() {
			a.premature(q, &request, false)
		}
	}
	a.tellPremature(q)
	if !q.concluded.established {
		a.unestablished(q)
	}
	a.answersInError(q)
	a.answersDestroyed(q)
	a.silences(q, &q.out.newest, false)
	a.silences(q, &q.in.newestResponse, true)
}

// ends reports whether a response is the NAK that ended the connection: the completion of a receive request that failed may come before it.
func (s *Requests) ends(at *PacketRef) bool {
	return s.fatal != nil && s.fatal.At.Frame == at.Frame && s.fatal.At.Tap == at.Tap
}

// silences judges a packet of a queue pair that is in error, or whose completion queue has overrun.
func (a *Agent) silences(q *queuePair, at *PacketRef, response bool) {
	if !at.Seen() {
		return
	}
	if s := &q.sending; q.failed != nil && !qp.DeviceTransition(q.typ, qp.RTS, qp.SQE) && !s.inError {
		s.inError = a.silence(q, rule.QPSERR001, q.failed, "the queue pair is in error", at, response)
	}
	if s := &q.sending; q.overrun != nil && !s.overrun {
		s.overrun = a.silence(q, rule.CPLCQ001, q.overrun, "the completion queue of the queue pair has overrun", at, response)
	}
}

// silence judges a packet that was sent after an event, which is why none may be. It reports whether that was wrong.
func (a *Agent) silence(q *queuePair, id rule.ID, e *Event, why string, at *PacketRef, response bool) bool {
	c := &q.src.clock
	if !c.trust {
		return false
	}
	a.covered(id)
	since := e.Time + c.hi
	if !c.exact || !a.near(q.addr()) { // it may still be in flight to the tap
		since += c.slack + slackSending
	}
	if at.Time <= since || q.in.ends(at) {
		return false
	}
	v := verdict{Verdict: rule.Verdict{Rule: id, Class: rule.Violation, Role: q.sender(), Expected: "no request: " + why, Actual: at.Op.String()}, at: *at, event: e}
	if e.Line > 0 {
		v.Detail = fmt.Sprintf("line %d of the log shows the error", e.Line)
	}
	if response {
		v.Role, v.Expected = rule.Responder, "no response: "+why
	}
	a.accuse(q, v)
	return true
}
