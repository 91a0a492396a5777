package cq

import (
	"fmt"
	"sort"

	"ibwitness/rule"
	"ibwitness/wqe"
)

// invalidatedEarly judges that a local invalidate completes after all requests before it: those that make no completion too. It returns false where that is not
// certain yet.
func (a *Agent) invalidatedEarly(q *queuePair, w *sendRequest) bool {
	if !q.reliable() {
		return true
	}
	posted := q.sending.posted.all()
	k := sort.Search(len(posted), func(i int) bool { return posted[i].n > w.n }) - 1
	if k < 0 {
		return true
	}
	before := posted[k]
	if before.done != nil { // the order of completions tells
		return true
	}
	if !a.reached(q.src, w.done.Time) {
		a.wait(q, w.done.Time)
		return false
	}
	if !q.out.first.Seen() {
		return a.ended
	}
	if !q.out.followed() || before.last() < q.out.joined {
		return true
	}
	at := q.answered(before)
	if at == nil {
		return a.ended
	}
	a.covered(rule.CPLFNC002)
	a.tooEarly(q, rule.CPLFNC002, rule.Requester, w.done, w.event, *at, PacketRef{}, fmt.Sprintf("the response to request %d", before.req().ID),
		len(q.out.again) == 0 && (before.response() || q.out.ackNames(before.last())))
	return true
}

// silentError judges that a request which was refused for good makes a completion, signalled or not.
func (a *Agent) silentError(q *queuePair) {
	if !q.acksKnown() || q.sq.flushed == nil {
		return
	}
	for _, w := range q.sends.all() {
		if w.local() || w.signaled(q) {
			continue
		}
		n := q.fatal(w)
		if n == nil {
			continue
		}
		a.covered(rule.CPLSIG002)
		if w.done == nil {
			a.accuse(q, verdict{
				Verdict: rule.Verdict{
					Rule: rule.CPLSIG002, Class: rule.Violation, Role: rule.Requester,
					Expected: fmt.Sprintf("a completion of request %d, which failed", w.req().ID),
					Actual:   "none, while later ones were flushed",
				},
				at: n.At, event: w.event,
			})
		}
		return
	}
}

// foreign reports whether a request has an address handle of another protection domain than its queue pair.
func (s *Source) foreign(q *queuePair, r *wqe.SendRequest) bool {
	return r.AH != 0 && foreign(s.ahs[r.AH], q.pd())
}

// foreign reports whether two protection domains differ. 0 is one that is not known.
func foreign(a, b wqe.PD) bool { return a != 0 && b != 0 && a != b }

// pd is the protection domain of a queue pair, 0 where it is not known.
func (q *queuePair) pd() wqe.PD {
	if q.made == nil {
		return 0
	}
	return q.made.PD
}

// foreignSent judges that a request with such a handle is not carried out. m is its message, if there is one.
func (a *Agent) foreignSent(q *queuePair, w *sendRequest, m *Message) {
	if q.sending.foreign {
		return
	}
	v := verdict{
		Verdict: rule.Verdict{
			Rule: rule.CPLAH001, Class: rule.Violation, Role: rule.Sender, Actual: "success",
			Expected: "LOC_QP_OP_ERR or an immediate error: the address handle belongs to another protection domain",
		},
		event: w.event,
	}
	if m != nil {
		v.at, v.Actual = m.Begin, m.Op.String()
	}
	q.sending.foreign = true
	a.accuse(q, v)
}

// malformed judges BAD_RESP_ERR, and success where it is due. It returns false where that is not certain yet.
func (a *Agent) malformed(q *queuePair, w *sendRequest) bool {
	status := w.done.Completion.Status
	v := verdict{Verdict: rule.Verdict{Rule: rule.CPLSTS008, Class: rule.Violation, Role: rule.Requester, Actual: status.String(), Detail: fmt.Sprintf("request %d", w.req().ID)}, event: w.done}
	switch {
	case status == Success && a.provenAt(q) != rule.Violation:
		return true // what the response is to its requester is not known, and what is wrong with it was told
	case status == Success:
		a.covered(rule.CPLSTS008)
		v.Expected, v.at = "BAD_RESP_ERR after a response that does not match the request", q.out.oddAt(w)
		if m := q.out.Find(w.first); m != nil {
			v.Evidence = []uint64{m.Begin.Frame}
		}
	case q.out.odd != nil, q.out.unusual > w.first:
		a.covered(rule.CPLSTS008)
		return true
	case !a.passed(q.src, w.done.Time):
		a.wait(q, w.done.Time)
		return a.ended
	default:
		a.covered(rule.CPLSTS008)
		v.Expected, v.Class = "a response before that does not match the request", a.proven(q)
		if m := q.out.Find(w.first); m != nil {
			v.at = m.Begin
		}
		v.unshown()
	}
	if a.accuse(q, v); status != Success && v.Class == rule.Violation {
		q.unfounded(w)
	}
	return true
}

// oddAt is the first response to a request that does not fit it.
func (s *Requests) oddAt(w *sendRequest) PacketRef {
	for _, n := range s.odd {
		if n.Ord >= w.first && n.Ord <= w.last() {
			return n.At
		}
	}
	return PacketRef{}
}
