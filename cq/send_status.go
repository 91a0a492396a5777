package cq

import (
	"encoding/binary"
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
	if !q.out.anchor || q.out.stopped != "" || q.packetsUncertain(w) {
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

// tooEarly judges whether a completion came before the packet that it needs. later is the first packet of a request that was posted after
// the completion: when that packet left, the completion was there. sure says that the capture cannot have missed the packet when it came
// first.
func (a *Agent) tooEarly(q *queuePair, id rule.ID, role rule.Role, e *Event, at, later PacketRef, what string, sure bool) {
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
	case c.before(e.Time, at.Time):
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
	c := w.done.Completion
	id, what := rule.CPLSTS012, "an ACK of its last packet"
	if w.response() {
		id, what = rule.CPLSTS013, "all of the response"
	}
	if w.last() < q.out.joined {
		return true // from before the capture
	}
	at := a.completesOn(q, w)
	ok := at != nil
	if n := q.fatal(w); !ok && n != nil {
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
		return true
	}
	odd := q.out.oddAt(w)
	if !ok && w.response() && odd.Seen() {
		return a.malformed(q, w)
	}
	if !ok && w.reportedEarly {
		return a.ended
	}
	if !ok {
		if !a.passed(q.src, w.done.Time) {
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
		a.covered(id)
		v := verdict{
			Verdict: rule.Verdict{
				Rule: id, Class: class, Role: rule.Requester, Expected: what + " before the completion", Actual: "none",
				Detail: fmt.Sprintf("request %d", c.ID),
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
		return a.ended
	}
	if w.reportedEarly {
		a.fetchedData(q, w)
		return true
	}
	a.covered(id)
	a.covered(rule.CPLSTS005)
	a.covered(rule.CPLSTS008)
	a.tooEarly(q, id, rule.Requester, w.done, *at, w.later, what, len(q.out.again) == 0 && (w.response() || q.out.ackNames(w.last())))
	a.fetchedData(q, w)
	return true
}

// fetched returns how many bytes a request brings into memory.
func fetched(w *sendRequest) (uint32, bool) {
	switch w.req().Op {
	case wqe.OpRead:
		return w.length, true
	case wqe.OpCmpSwap, wqe.OpFetchAdd:
		return 8, true
	}
	return 0, false
}

// fetchedData holds what a READ or atomic has brought into memory against the response.
func (a *Agent) fetchedData(q *queuePair, w *sendRequest) {
	m := q.out.Find(w.first)
	if !w.done.Summed || m == nil || m.Response == nil || !m.Response.Whole || m.Response.Cut || m.Response.Mixed {
		return
	}
	if w.req().Op == wqe.OpRead && m.Response.Length != w.length {
		return // what memory has where no data came is not of the message
	}
	a.covered(rule.CPLMEM001)
	got, same := m.Response.CRC, false
	switch w.req().Op {
	case wqe.OpRead:
		same = got == w.done.Sum
	case wqe.OpCmpSwap, wqe.OpFetchAdd:
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], m.Response.Orig)
		same = sum(b[:]) == w.done.Sum
		binary.BigEndian.PutUint64(b[:], m.Response.Orig)
		got = sum(b[:])
		same = same || got == w.done.Sum
	default:
		return
	}
	if !same {
		class, why := a.broughtBack(q, m)
		m.wrongInMemory = class == rule.Unproven && !m.departs
		a.accuse(q, verdict{
			Verdict: rule.Verdict{
				Rule: rule.CPLMEM001, Class: class, Role: rule.Requester,
				Expected: fmt.Sprintf("data with CRC-32 %#08x in memory", got), Actual: fmt.Sprintf("%#08x", w.done.Sum),
				Detail: fmt.Sprintf("request %d%s", w.req().ID, why),
			},
			at: m.Response.At, event: w.done,
		})
	}
}

// broughtBack is the class of a finding that rests on what the response to a READ or an atomic has brought to its requester. It is certain that the requester has taken the response as
// the tap shows it if the tap is near the requester, the responder has repeated all of it, or it is what memory held.
func (a *Agent) broughtBack(q *queuePair, m *Message) (class rule.Class, why string) {
	switch {
	case m.departs:
		return rule.Unproven, "; the response is another than memory holds: it may have been changed before or after the tap"
	case m.held:
		a.assumes = rule.AssumesNear | rule.AssumesWhole
		return rule.Violation, ""
	case m.Response.Repeated == m.Packets:
		return rule.Violation, ""
	case a.provenAt(q) == rule.Violation:
		return rule.Violation, ""
	}
	return rule.Unproven, "; what memory held is not known: the response may have been changed before or after the tap, or the requester have taken another one"
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
	status := w.done.Completion.Status
	reported := a.exhausted(q, w)
	switch status {
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
	accuse := func(id rule.ID, class rule.Class, expected, actual string, at PacketRef) {
		v := verdict{
			Verdict: rule.Verdict{
				Rule: id, Class: class, Role: rule.Requester, Expected: expected, Actual: actual,
				Detail: fmt.Sprintf("request %d", w.req().ID),
			},
			at: at, event: w.done,
		}
		if class == rule.Unproven {
			v.Detail += "; " + notShown
		}
		a.accuse(q, v)
	}
	named := q.fatal(w) // the NAK that names the request
	for _, c := range codes {
		switch {
		case named != nil && named.Syndrome == c.syndrome:
			a.covered(c.rule)
			switch status {
			case c.status:
				a.tooEarly(q, c.rule, rule.Requester, w.done, named.At, PacketRef{}, "the NAK", len(q.out.again) == 0)
			case RemInvReqErr, RemAccessErr, RemOpErr:
				accuse(c.rule, rule.Violation, c.status.String()+" after "+c.syndrome.String(), status.String(), named.At)
			case WRFlushErr, BadRespErr, RNRRetryExcErr:
				accuse(c.rule, a.proven(q), c.status.String()+" after "+c.syndrome.String(), status.String(), named.At)
			}
		case named == nil && status == c.status:
			if !a.passed(q.src, w.done.Time) {
				a.wait(q, w.done.Time)
				return a.ended
			}
			a.covered(c.rule)
			class := a.proven(q)
			accuse(c.rule, class, "a "+c.syndrome.String()+" that names the request", "none", PacketRef{})
			if class == rule.Violation {
				q.unfounded(w)
			}
		}
	}
	return true
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
