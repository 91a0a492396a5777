package cq

import (
	"fmt"

	"ibwitness/hcaagent"
	"ibwitness/packet"
	"ibwitness/rule"
)

// retried judges RETRY_EXC_ERR.
func (a *Agent) retried(q *queuePair, w *work) {
	if !q.attr.Has(hcaagent.KnowsRetryCnt) || q.src.clock.mayBeAfter(w.done.Time, a.last) && !q.src.exact {
		return
	}
	a.covered(rule.CPLSTS006)
	a.covered(rule.RCRTY002)
	most := 0
	var at where
	for ord := w.first; ord <= w.last(); ord++ {
		n := q.out.again[ord]
		if ord < q.out.high {
			n++
		}
		most = max(most, n)
	}
	if m := q.out.find(w.first); m != nil {
		at = m.begin
	}
	most += q.out.repeated(w)
	if want := 1 + int(q.attr.RetryCnt); most < want {
		v := verdict{
			rule: rule.CPLSTS006, class: a.sentProven(q), role: rule.Requester, expected: fmt.Sprintf("%d tries of the oldest packet", want),
			actual: fmt.Sprintf("%d", most), detail: fmt.Sprintf("request %d", w.req().ID), at: at, event: w.done,
		}
		if v.class == rule.Unproven {
			v.detail += "; " + notShown
		}
		a.accuse(q, v)
		if before, since := q.out.retries(w); before > 0 && before+since >= want-1 {
			v.rule, v.expected = rule.RCRTY002, fmt.Sprintf("%d retries: what was sent before the request is acknowledged", want-1)
			v.actual = fmt.Sprintf("%d, and %d before that progress", since, before)
			a.accuse(q, v)
		}
	}
}

// retries counts how often the requester went back to what came before a request, if that is acknowledged, and to the request.
func (s *stream) retries(w *work) (before, since int) {
	if _, ok := s.ackOf(w.first - 1); !ok {
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
func (s *stream) repeated(w *work) (n int) {
	for i := 1; i < len(s.naks); i++ {
		x, y := &s.naks[i-1], &s.naks[i]
		if x.ord == y.ord && y.syndrome == packet.NAKSequence && x.syndrome == y.syndrome && y.ord >= w.first && y.ord <= w.last() {
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
		if k := &s.naks[i]; k.syndrome == packet.NAKSequence && k.ord > w.last() {
			n++
		}
	}
	return n
}

// rnrRetried judges RNR_RETRY_EXC_ERR.
func (a *Agent) rnrRetried(q *queuePair, w *work) {
	if !q.attr.Has(hcaagent.KnowsRNRRetry) {
		return
	}
	a.covered(rule.CPLSTS007)
	a.covered(rule.RCRNR004)
	n, before := 0, 0
	var at where
	for _, k := range q.out.naks {
		switch {
		case k.syndrome.Type() != packet.RNRNAK:
		case k.ord < w.first:
			before++
		case k.ord <= w.last():
			n++
			at = k.at
		}
	}
	v := verdict{
		rule: rule.CPLSTS007, class: rule.Violation, role: rule.Requester, at: at, event: w.done,
		detail: fmt.Sprintf("request %d", w.req().ID), actual: fmt.Sprintf("%d RNR NAKs", n),
	}
	want := 1 + int(q.attr.RNRRetry)
	switch {
	case q.attr.RNRRetry == 7:
		v.expected = "no such error: an RNR retry count of 7 has no limit"
	case n < want:
		v.expected, v.class = fmt.Sprintf("%d RNR NAKs", want), a.proven(q)
	default:
		return
	}
	if v.class == rule.Unproven {
		v.detail += "; " + notShown
	}
	a.accuse(q, v)
	if _, ok := q.out.ackOf(w.first - 1); ok && before > 0 && n > 0 && n < want && n+before >= want && q.attr.RNRRetry < 7 {
		v.rule, v.expected = rule.RCRNR004, fmt.Sprintf("%d RNR NAKs: what was sent before the request is acknowledged", want)
		v.actual = fmt.Sprintf("%d, and %d before that progress", n, before)
		a.accuse(q, v)
	}
}
