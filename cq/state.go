package cq

import (
	"errors"
	"fmt"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

func (a *Agent) createQP(s *Source, e *Event) {
	q := a.life(s, e.QP.QPN, e)
	q.known, q.made = true, e.New
	if e.New != nil {
		q.typ = e.New.Type
		q.recvs.shared = q.typ == qp.TypeXRCTarget // each message names one
		if e.New.SRQ != 0 {
			q.recvs = s.sharedQueue(e.New.SRQ)
		}
	}
}

// verb makes a finding that rests only on events.
func (a *Agent) verb(q *queuePair, id rule.ID, e *Event, expected, actual string) {
	a.accuse(q, verdict{Verdict: rule.Verdict{Rule: id, Class: rule.Violation, Expected: expected, Actual: actual}, event: e})
}

// modifyQP steps the state machine of a queue pair, and judges what the device has accepted.
func (a *Agent) modifyQP(s *Source, e *Event) {
	q := a.qp(s, e.QP.QPN)
	if q == nil {
		q = a.life(s, e.QP.QPN, e)
	}
	if e.Failed {
		return
	}
	from := a.stateBefore(q, e)
	if q.known {
		a.transition(q, from, e)
	}
	if e.State == qp.Reset && q.state != qp.Reset {
		a.reset(q, e)
		return
	}
	q.drained(e)
	q.state = e.State
	if e.State == qp.SQD && e.Attr != nil && e.Attr.SQDNotify {
		q.drain = true
	}
	if e.Attr != nil && e.Attr.Has(qp.KnowsAccess) {
		q.permits |= e.Attr.Access
	}
	if e.Attr != nil {
		q.attr.Merge(e.Attr)
	}
	switch {
	case e.State == qp.RTR && q.wasRTR == nil:
		q.wasRTR = e
	case e.State == qp.RTS && q.wasRTS == nil:
		q.wasRTS = e
	case e.State == qp.Err && q.failed == nil:
		q.failed = e
	}
	if e.State == qp.Err && q.wasErr == nil {
		q.wasErr = e
	}
	if e.State == qp.RTS && from == qp.SQE {
		q.sq = order{}
		q.failed = nil
	}
	a.changes++
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
	n.known, n.made, n.typ, n.learned = q.known, q.made, q.typ, q.learned
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

// transition judges a transition that the device has made.
func (a *Agent) transition(q *queuePair, from qp.State, e *Event) {
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
			a.verb(q, rule.QPSTRN001, e, "an error: a "+q.typ.String()+" queue pair has no such transition", way+" accepted")
		case te.Missing != 0:
			a.verb(q, rule.QPSTRN002, e, "an error: "+te.Missing.String()+" is required", way+" accepted without")
		case te.Extra != 0:
			a.verb(q, rule.QPSTRN003, e, "an error: the transition does not take "+te.Extra.String(), way+" accepted with it")
		}
	}
	if at := e.Attr; at != nil {
		a.values(q, from, e, at)
	}
}

// values judges the attributes that the device has accepted.
func (a *Agent) values(q *queuePair, from qp.State, e *Event, at *qp.Attr) {
	if at.Has(qp.KnowsPMTU) {
		a.covered(rule.QPSATT001)
		if !wqe.ValidMTU(int(at.PMTU)) {
			a.verb(q, rule.QPSATT001, e, "an error: a path MTU is 256, 512, 1024, 2048 or 4096", fmt.Sprintf("%d accepted", at.PMTU))
		}
	}
	if at.Known&(qp.KnowsTimeout|qp.KnowsRetryCnt|qp.KnowsRNRRetry|qp.KnowsMinRNRTimer) != 0 {
		a.covered(rule.QPSATT003)
		for _, v := range [...]struct {
			known      qp.Known
			value, max uint8
		}{
			{qp.KnowsTimeout, at.Timeout, 31},
			{qp.KnowsMinRNRTimer, at.MinRNRTimer, 31},
			{qp.KnowsRetryCnt, at.RetryCnt, 7},
			{qp.KnowsRNRRetry, at.RNRRetry, 7},
		} {
			if at.Has(v.known) && v.value > v.max {
				a.verb(q, rule.QPSATT003, e, fmt.Sprintf("an error: the %v is at most %d", v.known, v.max), fmt.Sprintf("%d accepted", v.value))
			}
		}
	}
	a.bounds(q, e, at)
	if at.Has(qp.KnowsMigState) {
		a.covered(rule.QPSATT005)
		if at.MigState == qp.Armed {
			a.verb(q, rule.QPSATT005, e, "an error: only the device sets ARMED", "ARMED accepted")
		}
	}
	for _, v := range [...]struct {
		known qp.Known
		value packet.PSN
	}{{qp.KnowsSQPSN, at.SQPSN}, {qp.KnowsRQPSN, at.RQPSN}} {
		if at.Has(v.known) {
			a.covered(rule.QPSATT006)
			if v.value > packet.PSNMask {
				a.verb(q, rule.QPSATT006, e, "an error: a PSN has 24 bits", fmt.Sprintf("%v %#x accepted", v.known, uint32(v.value)))
			}
		}
	}
	if at.Has(qp.KnowsDestQPN) {
		a.covered(rule.QPSATT006)
		if at.DestQPN > packet.PSNMask {
			a.verb(q, rule.QPSATT006, e, "an error: a queue pair number has 24 bits", fmt.Sprintf("%v %#x accepted", qp.KnowsDestQPN, at.DestQPN))
		}
	}
	if at.Has(qp.KnowsCurState) {
		a.covered(rule.QPSTRN005)
		if at.CurState != from || from < qp.RTR || from > qp.SQE {
			a.verb(q, rule.QPSTRN005, e, fmt.Sprintf("an error: the queue pair is in %v", from), fmt.Sprintf("current state %v accepted", at.CurState))
		}
	}
}

// bounds judges the attributes that the device bounds.
func (a *Agent) bounds(q *queuePair, e *Event, at *qp.Attr) {
	d := &q.src.device
	judge := func(id rule.ID, k qp.Known, known, ok bool, expected string, actual any) {
		if !at.Has(k) || !known {
			return
		}
		a.covered(id)
		if !ok {
			a.verb(q, id, e, "an error: "+expected, fmt.Sprintf("%v %v accepted", k, actual))
		}
	}
	judge(rule.QPSATT002, qp.KnowsMaxRdAtomic, d.MaxRdAtomic > 0, at.MaxRdAtomic <= d.MaxRdAtomic,
		fmt.Sprintf("the device has an initiator depth of %d", d.MaxRdAtomic), at.MaxRdAtomic)
	judge(rule.QPSATT002, qp.KnowsMaxDestRdAtomic, d.MaxDestRdAtomic > 0, at.MaxDestRdAtomic <= d.MaxDestRdAtomic,
		fmt.Sprintf("the device has responder resources for %d", d.MaxDestRdAtomic), at.MaxDestRdAtomic)
	judge(rule.QPSATT004, qp.KnowsPKey, at.PKey == 0 && d.PKeys > 0, int(at.PKeyIndex) < d.PKeys,
		fmt.Sprintf("the P_Key table has %d entries", d.PKeys), fmt.Sprintf("index %d", at.PKeyIndex))
	judge(rule.QPSATT004, qp.KnowsPort, true, at.Port > 0 && (d.Ports == 0 || at.Port <= d.Ports),
		fmt.Sprintf("the device has ports 1 to %d", max(d.Ports, 1)), at.Port)
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
	if q.known && q.reliable() && q.sq.failed != nil && (q.src.exact || q.sq.flushed != nil) {
		a.covered(rule.QPSTRN004)
		if e.State == qp.RTS || e.State == qp.SQD {
			a.verb(q, rule.QPSTRN004, e, "ERR: a request of it failed", "state "+e.State.String())
			return
		}
	}
	if q.known && e.State == qp.SQE && !qp.DeviceTransition(q.typ, qp.RTS, qp.SQE) {
		a.verb(q, rule.QPSTRN004, e, "ERR: a "+q.typ.String()+" queue pair has no SQE", "state SQE")
		return
	}
	if q.known && e.State != q.state && !qp.DeviceTransition(q.typ, q.state, e.State) {
		a.verb(q, rule.QPSTRN001, e, "state "+q.state.String(), "state "+e.State.String())
	}
	if e.State == qp.Err && q.failed == nil {
		q.failed = e
	}
}
