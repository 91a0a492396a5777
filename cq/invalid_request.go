package cq

import (
	"errors"
	"fmt"

	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// invalid returns why a queue pair cannot carry out a send request (rule CPL-IMD-002), or nil. It is not known of one that works on no message, of an
// atomic whose list is not told, or of a queue pair that was created before its log.
func (q *queuePair) invalid(r *wqe.SendRequest) *qp.InvalidError {
	var e *qp.InvalidError
	switch {
	case q.made == nil, r.Op == wqe.OpLocalInv, r.Op == wqe.OpBindMW, len(r.Segments) == 0 && (r.Op == wqe.OpCmpSwap || r.Op == wqe.OpFetchAdd || r.Op == wqe.OpAtomicWrite):
	case errors.As(q.made.ValidSend(qp.RTS, r), &e) && e.Rule == rule.CPLIMD002:
		return e
	}
	return nil
}

// carriedOut judges the send requests that have succeeded when w has, and could not: w itself, and those before it that make no completion (rules CPL-IMD-002, CPL-STS-017).
func (a *Agent) carriedOut(q *queuePair, w *sendRequest) {
	if q.made == nil {
		return
	}
	a.covered(rule.CPLIMD002)
	if len(q.src.lkeys) > 0 {
		a.covered(rule.CPLSTS017)
	}
	left := q.accepted[:0]
	for _, v := range q.accepted {
		then := ""
		switch {
		case v.n > w.n:
			left = append(left, v)
			continue
		case v == w:
		case v.done == nil && !v.signaled(q):
			then = ", as one after it has"
		default:
			continue
		}
		if x := q.invalid(v.req()); x != nil {
			a.verb(q, rule.CPLIMD002, w.done, "an error: "+x.Reason, fmt.Sprintf("request %d succeeded%s", v.req().ID, then))
			continue
		}
		a.unprotected(q, v, w, then)
	}
	clear(q.accepted[len(left):])
	q.accepted = left
}

// invalidReceive judges that a receive request which has succeeded was valid (rule CPL-IMD-002).
func (a *Agent) invalidReceive(q *queuePair, r *receive, e *Event) {
	if q.made == nil || q.recvs.shared || e.Completion.Status != Success {
		return
	}
	a.covered(rule.CPLIMD002)
	var x *qp.InvalidError
	if errors.As(q.made.ValidReceive(qp.RTS, r.event.Receive), &x) && x.Rule == rule.CPLIMD002 {
		a.verb(q, rule.CPLIMD002, e, "an error: "+x.Reason, fmt.Sprintf("receive request %d succeeded", e.Completion.ID))
	}
}
