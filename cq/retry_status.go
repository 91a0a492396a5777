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
		v.unshown()
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
	due := q.retriesUsed(tries, n)
	switch due {
	case RetryExcErr:
		v.Rule = rule.CPLSTS006
	case RNRRetryExcErr:
		v.Rule = rule.CPLSTS007
	default:
		return false
	}
	a.covered(v.Rule)
	if status == due || q.explains(status) {
		return false
	}
	if v.Expected = fmt.Sprintf("RNR_RETRY_EXC_ERR: %d transmissions, each with an RNR NAK", n); due == RetryExcErr {
		v.Expected = fmt.Sprintf("RETRY_EXC_ERR: the request was sent %d times without a response", tries)
		if m := q.out.Find(w.first); m != nil {
			v.at = m.Begin
		}
	}
	v.unshown()
	a.accuse(q, v)
	return true
}

// retriesUsed is the status of a request after so many transmissions and RNR NAKs to it, where they have used up one of the retry counters: RETRY_EXC_ERR or
// RNR_RETRY_EXC_ERR; else Success.
func (q *queuePair) retriesUsed(tries, rnr int) Status {
	switch {
	case rnr == 0 && q.attr.Has(qp.KnowsRetryCnt) && tries > int(q.attr.RetryCnt):
		return RetryExcErr
	case rnr > 0 && rnr == tries && q.attr.Has(qp.KnowsRNRRetry) && q.attr.RNRRetry < 7 && rnr > int(q.attr.RNRRetry):
		return RNRRetryExcErr
	}
	return Success
}

// explains reports whether a request may end with a status although its retries are used up: something else was the reason, or is judged by what the status says.
func (q *queuePair) explains(s Status) bool {
	switch s {
	case RetryExcErr, RespTimeoutErr, GeneralErr, FatalErr, RemAbortErr, LocEECOpErr, LocRDDViolErr, RemInvRDReqErr, InvEECNErr, InvEECStateErr:
		return false
	case WRFlushErr:
		return q.sq.failed != nil || q.rq.failed != nil || q.wasErr != nil || q.overrun != nil || q.asyncs.any || q.in.fatal != nil
	}
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
	n, at := q.out.rnrNAKs(w)
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
	v.unshown()
	if a.accuse(q, v); v.Class == rule.Violation {
		q.unfounded(w)
	}
	if before := q.out.rnrNAKsBefore(w); before > 0 && n > 0 && n < want && n+before >= want && q.attr.RNRRetry < 7 {
		v.Rule, v.Expected = rule.RCRNR004, fmt.Sprintf("%d RNR NAKs: the packets before the request are acknowledged", want)
		v.Actual = fmt.Sprintf("%d, and %d before that progress", n, before)
		a.accuse(q, v)
	}
}

// rnrNAKsBefore counts the RNR NAKs to what came before a request, if that is acknowledged.
func (s *Requests) rnrNAKsBefore(w *sendRequest) (n int) {
	if s.ackOf(w.first-1) == nil {
		return 0
	}
	for i := range s.naks {
		if k := &s.naks[i]; k.Syndrome.Type() == packet.RNRNAK && k.Ord < w.first {
			n++
		}
	}
	return n
}
