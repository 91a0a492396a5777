package cq

import (
	"fmt"

	"ibwitness/coverage"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// retried judges RETRY_EXC_ERR.
func (a *Agent) retried(q *queuePair, w *sendRequest) {
	if !q.attr.Has(qp.KnowsRetryCnt) || !a.passed(q.src, w.done.Time) && !q.src.exact {
		return
	}
	a.covered(rule.CPLSTS006)
	a.covered(rule.RCRTY002)
	var at PacketRef
	if m := q.out.Find(w.first); m != nil {
		at = m.Begin
	}
	most := q.out.tries(w) + q.out.repeated(w)
	if want := 1 + int(q.attr.RetryCnt); most < want {
		v := verdict{
			Verdict: rule.Verdict{
				Rule: rule.CPLSTS006, Class: a.provenAt(q), Role: rule.Requester,
				Expected: fmt.Sprintf("%d transmissions of the oldest packet", want), Actual: fmt.Sprintf("%d", most),
				Detail: fmt.Sprintf("request %d", w.req().ID),
			},
			at: at, event: w.done,
		}
		if v.Class == rule.Unproven {
			v.Detail += "; " + notShown
		}
		if a.accuse(q, v); v.Class == rule.Violation {
			q.unfounded(w)
		}
		if before, since := q.out.retries(w); before > 0 && before+since >= want-1 {
			v.Rule, v.Expected = rule.RCRTY002, fmt.Sprintf("%d retries: the packets before the request are acknowledged", want-1)
			v.Actual = fmt.Sprintf("%d, and %d before that progress", since, before)
			a.accuse(q, v)
		}
	} else {
		a.gaveUp(q, coverage.RetriesExhausted)
	}
}

// gaveUp counts that the requester of a queue pair has given up a request, as a completion says.
func (a *Agent) gaveUp(q *queuePair, path coverage.Path) {
	if s, ok := q.typ.Service(); ok {
		a.Shown.Recovered(s, path)
	}
}

// tries is how often the packet of a request that was sent most often was sent.
func (s *Requests) tries(w *sendRequest) (most int) {
	if len(s.again) == 0 { // nearly always
		if w.first < s.high {
			return 1
		}
		return 0
	}
	for ord := w.first; ord <= w.last(); ord++ {
		n := s.again[ord]
		if ord < s.high {
			n++
		}
		most = max(most, n)
	}
	return most
}

// rnrNAKs counts the RNR NAKs to a request. at is the newest.
func (s *Requests) rnrNAKs(w *sendRequest) (n int, at PacketRef) {
	for i := range s.naks {
		if k := &s.naks[i]; k.Syndrome.Type() == packet.RNRNAK && k.Ord >= w.first && k.Ord <= w.last() {
			n, at = n+1, k.At
		}
	}
	return n, at
}

// exhausted judges another status than RETRY_EXC_ERR or RNR_RETRY_EXC_ERR of the request with which the retries of its queue pair were used up. What
// happened at the requester itself may end it with a status of its own meanwhile. It reports whether it found one.
func (a *Agent) exhausted(q *queuePair, w *sendRequest) bool {
	status := w.done.Completion.Status
	if q.answered(w) != nil || q.out.odd != nil || q.fatal(w) != nil || q.oldestOpen() != w {
		return false
	}
	tries := q.out.tries(w)
	n, at := q.out.rnrNAKs(w)
	v := verdict{
		Verdict: rule.Verdict{
			Class: a.proven(q), Role: rule.Requester, Actual: status.String(), Detail: fmt.Sprintf("request %d", w.req().ID),
		},
		at: at, event: w.done,
	}
	switch {
	case n == 0 && q.attr.Has(qp.KnowsRetryCnt) && tries > int(q.attr.RetryCnt):
		a.covered(rule.CPLSTS006)
		if status == RetryExcErr {
			return false
		}
		v.Rule, v.Expected = rule.CPLSTS006, fmt.Sprintf("RETRY_EXC_ERR: the request was sent %d times without a response", tries)
		if m := q.out.Find(w.first); m != nil {
			v.at = m.Begin
		}
	case n > 0 && n == tries && q.attr.Has(qp.KnowsRNRRetry) && q.attr.RNRRetry < 7 && n > int(q.attr.RNRRetry):
		a.covered(rule.CPLSTS007)
		if status == RNRRetryExcErr {
			return false
		}
		v.Rule, v.Expected = rule.CPLSTS007, fmt.Sprintf("RNR_RETRY_EXC_ERR: %d transmissions, each with an RNR NAK", n)
	default:
		return false
	}
	switch status {
	case RespTimeoutErr, GeneralErr, FatalErr, RemAbortErr, LocEECOpErr, LocRDDViolErr, RemInvRDReqErr,
		InvEECNErr, InvEECStateErr:
	case RetryExcErr:
	case WRFlushErr:
		if q.sq.failed != nil || q.rq.failed != nil || q.wasErr != nil || q.overrun != nil || q.asyncs.any || q.in.fatal != nil {
			return false // that is why
		}
	default:
		return false // judged by what that says
	}
	if v.Class == rule.Unproven {
		v.Detail += "; " + notShown
	}
	a.accuse(q, v)
	return true
}

// oldestOpen returns the oldest send request on the wire that nothing has answered, or nil.
func (q *queuePair) oldestOpen() *sendRequest {
	for _, w := range q.sends.all() {
		if w.local() {
			continue
		}
		if q.answered(w) == nil && w.last() >= q.out.joined {
			return w
		}
	}
	return nil
}

// retries counts how often the requester went back to what came before a request, if that is acknowledged, and to the request.
func (s *Requests) retries(w *sendRequest) (before, since int) {
	if s.ackOf(w.first-1) == nil {
		return 0, 0
	}
	for _, ord := range s.backs {
		if ord < w.first {
			before++
		} else {
			since++
		}
	}
	return before, since
}

// repeated is how many sequence NAKs to a request came twice in a row, and how many responses passed over it where it needs one of its own: each uses
// up a retry, and there may be nothing to send.
func (s *Requests) repeated(w *sendRequest) (n int) {
	for i := 1; i < len(s.naks); i++ {
		x, y := &s.naks[i-1], &s.naks[i]
		if x.Ord == y.Ord && y.Syndrome == packet.NAKSequence && x.Syndrome == y.Syndrome && y.Ord >= w.first && y.Ord <= w.last() {
			n++
		}
	}
	if !w.response() {
		return n
	}
	for i := range s.acks {
		if s.acks[i].ord > w.last() {
			n++
		}
	}
	for i := range s.naks {
		if k := &s.naks[i]; k.Syndrome == packet.NAKSequence && k.Ord > w.last() {
			n++
		}
	}
	return n
}

// rnrRetried judges RNR_RETRY_EXC_ERR.
func (a *Agent) rnrRetried(q *queuePair, w *sendRequest) {
	if !q.attr.Has(qp.KnowsRNRRetry) {
		return
	}
	a.covered(rule.CPLSTS007)
	a.covered(rule.RCRNR004)
	n, before := 0, 0
	var at PacketRef
	for _, k := range q.out.naks {
		switch {
		case k.Syndrome.Type() != packet.RNRNAK:
		case k.Ord < w.first:
			before++
		case k.Ord <= w.last():
			n++
			at = k.At
		}
	}
	v := verdict{
		Verdict: rule.Verdict{
			Rule: rule.CPLSTS007, Class: rule.Violation, Role: rule.Requester, Detail: fmt.Sprintf("request %d", w.req().ID),
			Actual: fmt.Sprintf("%d RNR NAKs", n),
		},
		at: at, event: w.done,
	}
	want := 1 + int(q.attr.RNRRetry)
	switch {
	case q.attr.RNRRetry == 7:
		v.Expected = "no such error: an RNR retry count of 7 has no limit"
	case n < want:
		v.Expected, v.Class = fmt.Sprintf("%d RNR NAKs", want), a.proven(q)
	default:
		a.gaveUp(q, coverage.RNRExhausted)
		return
	}
	if v.Class == rule.Unproven {
		v.Detail += "; " + notShown
	}
	if a.accuse(q, v); v.Class == rule.Violation {
		q.unfounded(w)
	}
	if q.out.ackOf(w.first-1) != nil && before > 0 && n > 0 && n < want && n+before >= want && q.attr.RNRRetry < 7 {
		v.Rule, v.Expected = rule.RCRNR004, fmt.Sprintf("%d RNR NAKs: the packets before the request are acknowledged", want)
		v.Actual = fmt.Sprintf("%d, and %d before that progress", n, before)
		a.accuse(q, v)
	}
}
