package eventlog

import (
	"context"
	"errors"

	"ibwitness/hcaagent"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// Agent answers queries about the device of a log, as it was when the log ended.
type Agent struct {
	log   *hcaagent.Log
	taken map[wqe.CQ]int // events of the log that Completions has passed
}

// NewAgent returns the agent of a log.
func NewAgent(log *hcaagent.Log) *Agent { return &Agent{log, map[wqe.CQ]int{}} }

// QPAttr returns the attributes that a queue pair was given in its newest life.
func (a *Agent) QPAttr(_ context.Context, q wqe.QP) (attr qp.Attr, err error) {
	known := false
	for i := range a.log.Events {
		e := &a.log.Events[i]
		if e.QP.QPN != q.QPN || e.Failed {
			continue
		}
		switch e.Kind {
		case hcaagent.EvCreateQP:
			known, attr = true, qp.Attr{}
		case hcaagent.EvModifyQP, hcaagent.EvQueryQP:
			known = true
			if e.Kind == hcaagent.EvModifyQP && e.State == qp.Reset {
				attr = qp.Attr{}
			}
			if e.Attr != nil {
				attr.Merge(e.Attr)
			}
		}
	}
	if !known {
		return attr, &qp.UnknownError{What: "attributes of a queue pair that is not in the log"}
	}
	return attr, nil
}

// Completions gives the completions of a queue that the log holds. A log that names no queues has them all in queue 0.
func (a *Agent) Completions(_ context.Context, cq wqe.CQ, into []hcaagent.Completion) (n int, err error) {
	i := a.taken[cq]
	for ; i < len(a.log.Events) && n < len(into); i++ {
		if e := &a.log.Events[i]; e.Kind == hcaagent.EvCompletion && e.CQ == cq {
			into[n] = *e.Completion
			n++
		}
	}
	a.taken[cq] = i
	return n, nil
}

// MemoryData always answers qp.ErrUnknown: a log holds no memory.
func (a *Agent) MemoryData(context.Context, wqe.Memory, []byte) (int, error) {
	return 0, &qp.UnknownError{What: "memory"}
}

// MemoryAccess compares the range with the regions and windows that are open when the log ends.
func (a *Agent) MemoryAccess(_ context.Context, _ wqe.QP, m wqe.Memory, access wqe.Access) error {
	var r *hcaagent.Region
	for i := range a.log.Events {
		e := &a.log.Events[i]
		if e.Region == nil || e.Failed {
			continue
		}
		key := e.Region.RKey
		if m.Key.Local {
			key = e.Region.LKey
		}
		switch {
		case key != m.Key.Key:
		case e.Kind == hcaagent.EvRegisterMR:
			r = e.Region
		case e.Kind == hcaagent.EvDeregisterMR:
			r = nil
		}
	}
	switch {
	case r == nil:
		return &qp.UnknownError{What: "a key that the log does not register"}
	case m.VA < r.VA || m.Length > r.Length || m.VA-r.VA > r.Length-m.Length:
		return &hcaagent.AccessError{Key: m.Key, Reason: "the range is not inside the region of the key"}
	case access&^r.Access != 0:
		return &hcaagent.AccessError{Key: m.Key, Reason: "the region does not permit this access"}
	}
	return nil
}

// request finds the newest send request of a queue pair with this ID.
func (a *Agent) request(q wqe.QP, id uint64) (*wqe.SendRequest, error) {
	for i := len(a.log.Events) - 1; i >= 0; i-- {
		if e := &a.log.Events[i]; e.Kind == hcaagent.EvPostSend && e.QP.QPN == q.QPN && e.Send.ID == id && !e.Anonymous && !e.Failed {
			return e.Send, nil
		}
	}
	return nil, hcaagent.ErrNotFound
}

// DataSegments returns how many data segments a send request has.
func (a *Agent) DataSegments(_ context.Context, q wqe.QP, id uint64) (int, error) {
	r, err := a.request(q, id)
	if err != nil {
		return 0, err
	}
	return len(r.Segments), nil
}

// ExpectSolicitedEvent reports whether the request with this ID has the solicited event modifier.
func (a *Agent) ExpectSolicitedEvent(_ context.Context, q wqe.QP, id uint64) (bool, error) {
	r, err := a.request(q, id)
	if err != nil {
		return false, err
	}
	return r.Flags&wqe.Solicited != 0, nil
}

// VerifyTransition holds the newest transition of a queue pair between the two states against table T7.
func (a *Agent) VerifyTransition(_ context.Context, q wqe.QP, from, to qp.State) error {
	var result error = &qp.UnknownError{What: "a transition that the log does not hold"}
	var t qp.Type
	var at qp.State
	for i := range a.log.Events {
		e := &a.log.Events[i]
		if e.QP.QPN != q.QPN || e.Failed {
			continue
		}
		switch e.Kind {
		case hcaagent.EvCreateQP:
			t, at = e.New.Type, qp.Reset
		case hcaagent.EvModifyQP:
			if at == from && e.State == to {
				result = qp.ValidTransition(t, from, to, e.Attr.Known)
			}
			at = e.State
		}
	}
	var te *qp.TransitionError
	if errors.As(result, &te) {
		return te
	}
	return result
}
