package cq

import (
	"errors"
	"fmt"

	"ibwitness/qp"
	"ibwitness/rule"
)

func (a *Agent) createQP(s *Source, e *Event) {
	if e.Failed {
		return
	}
	q := a.life(s, e.QP.QPN, e)
	q.known, q.made, q.typ = true, e.New, e.New.Type
	q.recvs.shared = q.typ == qp.TypeXRCTarget // each message names one
	if e.New.SRQ != 0 {
		q.recvs = s.sharedQueue(e.New.SRQ)
	}
}

// destroyQP ends the last life of a queue pair, and judges that it could be destroyed.
func (a *Agent) destroyQP(s *Source, e *Event) {
	q := a.qp(s, e.QP.QPN)
	if q == nil || e.Failed {
		return
	}
	q.unbound()
	a.covered(rule.QPSMC001)
	if q.groups > 0 {
		a.verb(q, rule.QPSMC001, e, "an error: the queue pair is attached to a multicast group", "it was destroyed")
	}
	q.died, q.gone = e.Time, true
	if q.destroy == nil {
		q.destroy = e
		q.polled.send, q.polled.receive = q.shown()
	}
	a.changes++
}

// verb makes a finding that rests only on events.
func (a *Agent) verb(q *queuePair, id rule.ID, e *Event, expected, actual string) {
	a.accuse(q, verdict{Verdict: rule.Verdict{Rule: id, Class: rule.Violation, Expected: expected, Actual: actual}, event: e})
}

// stray reports that a queue pair is in another state than its events tell, or has come to one in another way. After the first of these until a reset it is not certain which
// state it is in: a line of the log may be misplaced, and what follows from that is not proven.
func (a *Agent) stray(q *queuePair, v verdict) {
	if q.astray {
		v.Class, v.Detail = rule.Unproven, "a finding before it tells that the state of the queue pair is not that of the log"
	}
	q.astray = true
	a.accuse(q, v)
}

// modifyQP steps the state machine of a queue pair, and judges what the device has accepted.
func (a *Agent) modifyQP(s *Source, e *Event) {
	q := a.qp(s, e.QP.QPN)
	if q == nil {
		q = a.joins(s, e.QP.QPN, e)
	}
	if e.Failed {
		return
	}
	from, wasAstray := a.stateBefore(q, e), q.astray
	extra := qp.Known(0)
	if q.known {
		extra = a.transition(q, from, e)
	}
	if e.State == qp.Reset && q.state != qp.Reset {
		a.reset(q, e)
		return
	}
	a.drained(q, e)
	if !wasAstray || e.State >= from || e.State > qp.RTR { // else it is rather the line of a step that was passed over
		q.state = e.State
	}
	if e.Attr != nil {
		q.modified(e, extra)
	}
	q.came(from, e)
	a.changes++
}

// modified takes over the attributes that a queue pair was given, but those that its transition does not take, and whether it shall tell of it when its send queue has drained.
func (q *queuePair) modified(e *Event, extra qp.Known) {
	if e.State == qp.SQD && e.Attr.SQDNotify {
		q.drain = drainEvent{event: e, n: q.src.n}
	}
	if e.Attr.Has(qp.KnowsAccess) {
		q.permit(e)
	}
	given := *e.Attr
	given.Known &^= extra
	if q.wasRTR != nil && !q.src.exact { // packets from before it are yet to come
		q.attr.Change(&given)
	} else {
		q.attr.Update(&given)
	}
	q.src.connects(q)
}

// came takes over by which event a queue pair has come to RTR, RTS or ERR for the first time, and that it has left SQE.
func (q *queuePair) came(from qp.State, e *Event) {
	switch {
	case e.State == qp.RTR && q.wasRTR == nil:
		q.wasRTR = e
	case e.State == qp.RTS && q.wasRTS == nil:
		if q.wasRTS = e; q.wasRTR == nil { // it came there on the way
			q.wasRTR = e
		}
	case e.State == qp.Err && q.failed == nil:
		q.failed = e
	}
	if e.State == qp.Err && q.wasErr == nil {
		q.wasErr = e
	}
	q.showsError(e)
	if e.State == qp.RTS && from == qp.SQE {
		q.sq = order{}
		q.failed = nil
	}
}

// stateBefore is the state from which an event changes a queue pair: an error may have changed it meanwhile.
func (a *Agent) stateBefore(q *queuePair, e *Event) qp.State {
	switch {
	case !q.known || e.State == qp.Reset:
	case q.overrun != nil:
		return qp.Err
	case q.failed != nil && q.state != qp.Err && e.State != qp.Err:
		return a.errorState(q)
	}
	return q.state
}

// reset ends a life of a queue pair and begins the next.
func (a *Agent) reset(q *queuePair, e *Event) {
	q.died, q.gone = e.Time, true
	q.unbound()
	n := a.life(q.src, q.qpn, e)
	n.known, n.made, n.typ, n.learned, n.doubt = q.known, q.made, q.typ, q.learned, q.doubt
	if q.recvs.shared {
		n.recvs = q.recvs
	}
}

// errorState is the state that a queue pair went to by itself on an error.
func (a *Agent) errorState(q *queuePair) qp.State {
	if qp.DeviceTransition(q.typ, qp.RTS, qp.SQE) && q.rq.failed == nil && q.rq.flushed == nil {
		return qp.SQE
	}
	return qp.Err
}

// transition judges a transition that the device has made. It returns the attributes that were given with it, and that it does not take.
func (a *Agent) transition(q *queuePair, from qp.State, e *Event) (extra qp.Known) {
	given := qp.Known(0)
	if e.Attr != nil {
		given = e.Attr.Known
	}
	a.covered(rule.QPSTRN001)
	a.covered(rule.QPSTRN002)
	a.covered(rule.QPSTRN003)
	way := fmt.Sprintf("%v to %v", from, e.State)
	err := qp.ValidTransition(q.typ, from, e.State, given)
	var te *qp.TransitionError
	if errors.As(err, &te) {
		switch {
		case from == qp.SQE && !qp.DeviceTransition(q.typ, qp.RTS, qp.SQE):
		case !te.Exists:
			a.stray(q, verdict{
				Verdict: rule.Verdict{Rule: rule.QPSTRN001, Class: rule.Violation, Expected: "an error: a " + q.typ.String() + " queue pair has no such transition", Actual: way + " accepted"},
				event:   e,
			})
		case te.Missing != 0:
			a.verb(q, rule.QPSTRN002, e, "an error: "+te.Missing.String()+" is required", way+" accepted without")
		case te.Extra != 0:
			a.verb(q, rule.QPSTRN003, e, "an error: the transition does not take "+te.Extra.String(), way+" accepted with it")
			extra = te.Extra
		}
	}
	if at := e.Attr; at != nil {
		a.values(q, from, e, at)
	}
	return extra
}

// values judges the attributes that the device has accepted.
func (a *Agent) values(q *queuePair, from qp.State, e *Event, at *qp.Attr) {
	last := rule.ID(rule.NumRules)
	for v := range at.Values(from, q.src.limits) {
		if v.Rule != last {
			a.covered(v.Rule)
		}
		if last = v.Rule; !v.Valid {
			a.verb(q, v.Rule, e, "an error: "+v.Want, v.Given+" accepted")
		}
	}
}

// queryQP compares the state that a device reports with the one that it must be in.
func (a *Agent) queryQP(s *Source, e *Event) {
	q := a.qp(s, e.QP.QPN)
	if q == nil || e.Failed {
		return
	}
	if e.State == qp.SQE {
		a.covered(rule.QPSTRN004)
	}
	a.stillAlive(q, e)
	if q.known {
		if a.notInError(q, e) {
			return
		}
		if e.State != q.state && !q.sending.inError && !qp.DeviceTransition(q.typ, q.state, e.State) {
			a.stray(q, verdict{
				Verdict: rule.Verdict{Rule: rule.QPSTRN001, Class: rule.Violation, Expected: "state " + q.state.String(), Actual: "state " + e.State.String()}, event: e,
			})
			q.broughtUp(e)
		}
	}
	if e.State == qp.Err {
		q.showsError(e)
		if q.failed == nil {
			q.failed = e
		}
	}
}

// notInError judges a state that a queue pair cannot be in after an error: ready to send where a request of it failed, or SQE where its type has none (rule QPS-TRN-004). It
// reports whether it is in one.
func (a *Agent) notInError(q *queuePair, e *Event) bool {
	if q.reliable() && q.sq.failed != nil && (q.src.exact || q.sq.flushed != nil) {
		a.covered(rule.QPSTRN004)
		if e.State == qp.RTS || e.State == qp.SQD {
			a.verb(q, rule.QPSTRN004, e, "ERR: a request of it failed", "state "+e.State.String())
			return true
		}
	}
	if e.State == qp.SQE && !qp.DeviceTransition(q.typ, qp.RTS, qp.SQE) {
		a.verb(q, rule.QPSTRN004, e, "ERR: a "+q.typ.String()+" queue pair has no SQE", "state SQE")
		return true
	}
	return false
}

// broughtUp takes over that a queue pair is further on its way to RTS than its log tells.
func (q *queuePair) broughtUp(e *Event) {
	if q.state >= qp.RTS || q.state >= e.State || e.State > qp.RTS {
		return
	}
	if q.state = e.State; e.State >= qp.RTR && q.wasRTR == nil {
		q.wasRTR = e
	}
	if e.State == qp.RTS {
		q.wasRTS = e
	}
}
