package cq

import (
	"fmt"
	"slices"

	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// settle compares send requests that are completed with the packets.
func (a *Agent) settle(q *queuePair) {
	if len(q.sending.settling) == 0 {
		return
	}
	left := q.sending.settling[:0]
	for _, w := range q.sending.settling {
		if w.settled = a.status(q, w); !w.settled {
			left = append(left, w)
		}
	}
	clear(q.sending.settling[len(left):])
	q.sending.settling = left
}

// status holds the completion of a send request against what the packets show. It returns false where that is not certain yet.
func (a *Agent) status(q *queuePair, w *sendRequest) bool {
	if w.req().Op == wqe.OpLocalInv && w.done.Completion.Status == Success {
		return a.invalidatedEarly(q, w)
	}
	if !q.reliable() || w.local() {
		return true
	}
	if !a.reached(q.src, w.done.Time) {
		a.wait(q, w.done.Time)
		return false
	}
	if !q.out.first.Seen() {
		return a.ended // the capture may begin later
	}
	if !q.out.followed() || q.packetsUncertain(w) {
		return true
	}
	if w.done.Completion.Status == Success {
		return a.succeeded(q, w)
	}
	if open := q.unansweredBeforeNAK(); open == nil || w.n < open.n {
		return a.failedSend(q, w)
	}
	return true
}

// packetsUncertain reports whether it is not certain which packets are those of a request: what was sent before it is not what was posted.
func (q *queuePair) packetsUncertain(w *sendRequest) bool {
	return q.unmatched != nil && w.n >= q.unmatched.n
}

// tooEarly judges whether a completion came before the packet that it needs, of a request that was posted by an event. later is the first packet of a request that was posted after
// the completion: when that packet left, the completion was there. sure says that the capture cannot have missed the packet when it came
// first.
func (a *Agent) tooEarly(q *queuePair, id rule.ID, role rule.Role, e, posted *Event, at, later PacketRef, what string, sure bool) {
	c := &q.src.clock
	class, why := rule.Violation, ""
	if !sure && a.proven(q) != rule.Violation {
		class, why = rule.Unproven, "; "+notShown
	}
	switch {
	case later.Seen() && later.Pos < at.Pos && later.Time+q.src.slackRecord() < at.Time:
		a.accuse(q, verdict{
			Verdict: rule.Verdict{
				Rule: id, Class: class, Role: role, Expected: what + " before the completion", Actual: "it arrived after the completion",
				Detail:   fmt.Sprintf("request %d; a request that was posted after the completion was on the wire in frame %d%s", e.Completion.ID, later.Frame, why),
				Evidence: []uint64{later.Frame},
			},
			at: at, event: e,
		})
	case c.follows(posted.Time, e.Time, at.Time):
		a.accuse(q, verdict{
			Verdict: rule.Verdict{
				Rule: id, Class: class, Role: role, Expected: what + " before the completion", Actual: "it arrived after the completion",
				Detail: fmt.Sprintf("request %d; by the clocks of log and capture%s", e.Completion.ID, why),
			},
			at: at, event: e,
		})
	}
}

// completed judges what a completion with success says by itself.
func (a *Agent) completed(q *queuePair, w *sendRequest) {
	c := w.done.Completion
	a.covered(rule.CPLOPC001)
	if want := Done(w.req().Op); c.Op != want {
		a.verb(q, rule.CPLOPC001, w.done, "a completion of "+want.String(), c.Op.String())
	}
	if n, ok := fetched(w); ok {
		a.covered(rule.CPLLEN003)
		if c.ByteLen != n {
			a.verb(q, rule.CPLLEN003, w.done, fmt.Sprintf("byte_len %d", n), fmt.Sprintf("%d", c.ByteLen))
		}
	}
}

// succeeded judges a completion with success.
func (a *Agent) succeeded(q *queuePair, w *sendRequest) bool {
	if w.last() < q.out.joined {
		return true // from before the capture
	}
	at := a.completesOn(q, w)
	if at == nil {
		return a.succeededUnanswered(q, w)
	}
	if w.reportedEarly {
		a.fetchedData(q, w)
		return true
	}
	id, what := w.awaits()
	a.covered(id)
	a.covered(rule.CPLSTS005)
	a.covered(rule.CPLSTS008)
	a.tooEarly(q, id, rule.Requester, w.done, w.event, *at, w.later, what, len(q.out.again) == 0 && (w.response() || q.out.ackNames(w.last())))
	a.fetchedData(q, w)
	return true
}

// awaits is what a request has to wait for before it completes with success, and the rule that says so.
func (w *sendRequest) awaits() (id rule.ID, what string) {
	if w.response() {
		return rule.CPLSTS013, "all of the response"
	}
	return rule.CPLSTS012, "an ACK of its last packet"
}

// succeededUnanswered judges a completion with success of a request that nothing has answered so far. It returns false where that is not certain yet.
func (a *Agent) succeededUnanswered(q *queuePair, w *sendRequest) bool {
	if n := q.fatal(w); n != nil {
		a.succeededRefused(q, w, n)
		return true
	}
	odd := q.out.oddAt(w)
	switch {
	case w.response() && odd.Seen():
		return a.malformed(q, w)
	case w.reportedEarly:
		return a.ended
	case !a.passed(q.src, w.done.Time):
		a.wait(q, w.done.Time)
		return a.ended // the capture ended before
	}
	if v := q.overtaken(w); v != nil { // that was told: which packets are whose is not certain from there on
		q.unmatched = v
		return true
	}
	class := a.proven(q)
	switch {
	case odd.Seen() && a.provenAt(q) != rule.Violation:
		return true // what is wrong with that was told
	case class == rule.Unproven && !a.ended:
		return false // what comes may prove it
	}
	a.succeededEarly(q, w, class, odd)
	return a.ended
}

// succeededRefused judges a completion with success of a request that a NAK has refused.
func (a *Agent) succeededRefused(q *queuePair, w *sendRequest, n *NAK) {
	c := w.done.Completion
	for _, k := range codes {
		if k.syndrome == n.Syndrome {
			a.covered(k.rule)
			a.accuse(q, verdict{
				Verdict: rule.Verdict{
					Rule: k.rule, Class: rule.Violation, Role: rule.Requester, Expected: k.status.String() + " after " + n.Syndrome.String(),
					Actual: c.Status.String(), Detail: fmt.Sprintf("request %d", c.ID),
				},
				at: n.At, event: w.done,
			})
		}
	}
}

// succeededEarly reports a completion with success for which there is no reason: odd is the response that does not match the request, if there is one.
func (a *Agent) succeededEarly(q *queuePair, w *sendRequest, class rule.Class, odd PacketRef) {
	id, what := w.awaits()
	a.covered(id)
	v := verdict{
		Verdict: rule.Verdict{
			Rule: id, Class: class, Role: rule.Requester, Expected: what + " before the completion", Actual: "none",
			Detail: fmt.Sprintf("request %d", w.done.Completion.ID),
		},
		event: w.done,
	}
	if m := q.out.Find(w.first); odd.Seen() {
		v.at, v.Actual = odd, "only a response that does not match the request"
	} else if m != nil {
		v.at = m.End
	}
	v.unshown()
	a.accuse(q, v)
	w.reportedEarly = true // its data is compared when it comes
}

// codes are the NAKs and the statuses that they give.
var codes = [...]struct {
	syndrome packet.Syndrome
	status   Status
	rule     rule.ID
}{
	{packet.NAKInvalidRequest, RemInvReqErr, rule.CPLSTS002},
	{packet.NAKRemoteAccess, RemAccessErr, rule.CPLSTS003},
	{packet.NAKRemoteOp, RemOpErr, rule.CPLSTS004},
	{packet.NAKInvalidRD, RemInvRDReqErr, rule.CPLSTS005},
}

// unansweredBeforeNAK returns the first READ or atomic that was not answered when a NAK ended the connection that names a request after it, or nil. The NAK says that its
// response is lost as well, and either may be the request that fails.
func (q *queuePair) unansweredBeforeNAK() *sendRequest {
	n := q.out.fatal
	if n == nil {
		return nil
	}
	for _, w := range q.sends.all() {
		if w.local() || !w.response() {
			continue
		}
		if w.last() >= n.Ord || q.packetsUncertain(w) {
			return nil
		}
		if q.answered(w) == nil {
			return w
		}
	}
	return nil
}

// failedSend judges a completion with an error.
func (a *Agent) failedSend(q *queuePair, w *sendRequest) bool {
	reported := a.exhausted(q, w)
	switch w.done.Completion.Status {
	case RetryExcErr:
		if reported {
			return true
		}
		a.retried(q, w)
	case RNRRetryExcErr:
		a.rnrRetried(q, w)
	case BadRespErr:
		if !a.malformed(q, w) {
			return false
		}
	case LocProtErr, LocLenErr:
		a.unreadable(q, w)
	}
	if n := q.fatal(w); n != nil {
		a.afterNAK(q, w, n)
		return true
	}
	return a.withoutNAK(q, w)
}

// afterNAK judges the status of a request that a NAK has refused for good.
func (a *Agent) afterNAK(q *queuePair, w *sendRequest, n *NAK) {
	status := w.done.Completion.Status
	for _, c := range codes {
		if n.Syndrome != c.syndrome {
			continue
		}
		a.covered(c.rule)
		class := rule.Violation
		switch status {
		case c.status:
			a.tooEarly(q, c.rule, rule.Requester, w.done, w.event, n.At, PacketRef{}, "the NAK", len(q.out.again) == 0)
			continue
		case RemInvReqErr, RemAccessErr, RemOpErr:
		case WRFlushErr, BadRespErr, RNRRetryExcErr:
			class = a.proven(q)
		default:
			continue
		}
		a.wrongStatus(q, w, c.rule, class, c.status.String()+" after "+c.syndrome.String(), status.String(), n.At)
	}
}

// withoutNAK judges a status that only a NAK gives, of a request that none has refused. It returns false where one may yet come.
func (a *Agent) withoutNAK(q *queuePair, w *sendRequest) bool {
	for _, c := range codes {
		if w.done.Completion.Status != c.status {
			continue
		}
		if !a.passed(q.src, w.done.Time) {
			a.wait(q, w.done.Time)
			return a.ended
		}
		a.covered(c.rule)
		class := a.proven(q)
		a.wrongStatus(q, w, c.rule, class, "a "+c.syndrome.String()+" that names the request", "none", PacketRef{})
		if class == rule.Violation {
			q.unfounded(w)
		}
	}
	return true
}

// wrongStatus reports that a request has completed with another error than the packets lead to.
func (a *Agent) wrongStatus(q *queuePair, w *sendRequest, id rule.ID, class rule.Class, expected, actual string, at PacketRef) {
	v := verdict{
		Verdict: rule.Verdict{
			Rule: id, Class: class, Role: rule.Requester, Expected: expected, Actual: actual,
			Detail: fmt.Sprintf("request %d", w.req().ID),
		},
		at: at, event: w.done,
	}
	v.unshown()
	a.accuse(q, v)
}

// fatal returns the first NAK that ends the connection and names a packet of the request.
func (q *queuePair) fatal(w *sendRequest) *NAK {
	for i := range q.out.naks {
		if n := &q.out.naks[i]; n.Syndrome.Fatal() && n.Ord >= w.first && n.Ord <= w.last() {
			return n
		}
	}
	return nil
}

// unreliable judges the status of a UC send request.
func (a *Agent) unreliable(q *queuePair, w *sendRequest) {
	a.covered(rule.UCCPL001)
	switch s := w.done.Completion.Status; s {
	case RemInvReqErr, RemAccessErr, RemOpErr, RetryExcErr, RNRRetryExcErr, BadRespErr:
		a.verb(q, rule.UCCPL001, w.done, "success: a UC requester gets no error from its peer", s.String())
		q.unfounded(w)
	}
}

// overtaken is the first request before w that later ones have passed over and that has no completion, or nil.
func (q *queuePair) overtaken(w *sendRequest) *sendRequest {
	for _, v := range q.sends.from(q.oldest) {
		if v == w {
			break
		}
		if v.overtaken && !v.renamed && v.done == nil && !v.local() {
			return v
		}
	}
	return nil
}

// unfounded takes back that a queue pair is in error by a completion for which there was no reason, as that was told.
func (q *queuePair) unfounded(w *sendRequest) {
	if q.sq.failed == w.done && q.sq.flushed == nil {
		q.sq.failed = nil
	}
	if q.failed == w.done {
		q.failed = nil
	}
	if q.stopped == w {
		q.stopped = nil
	}
	q.broken = slices.DeleteFunc(q.broken, func(d drain) bool { return d.event == w.done })
}
