package cq

import (
	"fmt"

	"ibwitness/hcaagent"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// invalidatedEarly judges that a local invalidate completes after all requests before it: those that make no completion too.
func (a *Agent) invalidatedEarly(q *queuePair, w *work) {
	if w.req().Op != wqe.OpLocalInv || !q.reliable() || !q.out.anchor || !q.out.first.seen() || q.out.halted != "" {
		return
	}
	var before *work
	for _, v := range q.sends {
		if v == w {
			break
		}
		if !v.local() {
			before = v
		}
	}
	if before == nil || before.done != nil || before.last() < q.out.joined { // the order of completions tells
		return
	}
	at, ok := q.answered(before)
	if !ok {
		return
	}
	a.covered(rule.CPLFNC002)
	a.early(q, rule.CPLFNC002, rule.Requester, w.done, at, where{}, fmt.Sprintf("the response to request %d", before.req().ID),
		len(q.out.again) == 0 && (before.response() || q.out.ackNames(before.last())))
}

// silentError judges that a request which was refused for good makes a completion, signalled or not.
func (a *Agent) silentError(q *queuePair) {
	if !q.known || !q.reliable() || !q.out.anchor || q.sq.flushed == nil {
		return
	}
	for _, w := range q.sends {
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
				rule: rule.CPLSIG002, class: rule.Violation, role: rule.Requester, expected: fmt.Sprintf("a completion of request %d, which failed", w.req().ID),
				actual: "none, while later ones were flushed", at: n.at, event: w.event,
			})
		}
		return
	}
}

// foreign reports whether a request has an address handle of another protection domain than its queue pair.
func (s *Source) foreign(q *queuePair, r *wqe.SendRequest) bool {
	pd := s.ahs[r.AH]
	return r.AH != 0 && pd != 0 && q.made != nil && q.made.PD != 0 && pd != q.made.PD
}

// foreignSent judges that a request with such a handle is not carried out.
func (a *Agent) foreignSent(q *queuePair) {
	for _, w := range q.sends {
		if w.req().AH != 0 {
			a.covered(rule.CPLAH001)
		}
		if !w.foreign {
			continue
		}
		v := verdict{
			rule: rule.CPLAH001, class: rule.Violation, role: rule.Sender, actual: "success", event: w.event,
			expected: "LOC_QP_OP_ERR or an immediate error: the address handle belongs to another protection domain",
		}
		if m := q.out.find(w.first); m != nil && q.out.anchor {
			v.at, v.actual = m.begin, m.op.String()
		} else if w.done == nil || w.done.Completion.Status != hcaagent.Success {
			continue
		}
		a.accuse(q, v)
		return
	}
}

// misfits reports whether a response cannot be the one of its PSN to a request, as far as its opcode and length tell.
func (s *stream) misfits(m *message, ord int64, p *packet.Packet) bool {
	f := p.Opcode.Fn()
	switch {
	case f == packet.Acknowledge:
		return p.Syndrome.Reserved()
	case m.read == nil:
		return true
	case m.op.Fn() == packet.CmpSwap || m.op.Fn() == packet.FetchAdd:
		return f != packet.AtomicAck
	case f == packet.AtomicAck:
		return true
	case m.op.Fn() != packet.ReadRequest:
		return f != packet.ReadRespOnly || p.PayloadLen != 0
	case s.pmtu == 0:
		return false
	}
	n := m.dma - uint32(ord-m.first)*s.pmtu
	last := f == packet.ReadRespLast || f == packet.ReadRespOnly
	return last != (ord == m.last()) || uint32(p.PayloadLen) != min(n, s.pmtu)
}

// strange is misfits for a message of which the last packet has not been seen.
func (s *stream) strange(ord int64, p *packet.Packet) bool {
	i := ord - s.base
	if i < 0 || i >= int64(len(s.parts)) || !s.parts[i].seen {
		return false
	}
	if p.Opcode.Fn() == packet.Acknowledge {
		return p.Syndrome.Reserved()
	}
	return !wqe.OpOf(s.parts[i].op.Fn()).Responded()
}

// malformed judges BAD_RESP_ERR, and success where it is due.
func (a *Agent) malformed(q *queuePair, w *work) {
	a.covered(rule.CPLSTS008)
	status := w.done.Completion.Status
	v := verdict{rule: rule.CPLSTS008, class: rule.Violation, role: rule.Requester, actual: status.String(), detail: fmt.Sprintf("request %d", w.req().ID), event: w.done}
	switch {
	case status == hcaagent.Success:
		v.expected, v.at = "BAD_RESP_ERR after a response that does not match the request", q.out.oddAt(w)
		if m := q.out.find(w.first); m != nil {
			v.evidence = []uint64{m.begin.frame}
		}
	case q.out.odd == nil && !q.src.clock.mayBeAfter(w.done.Time, a.last):
		v.expected, v.class = "a response before that does not match the request", a.proven(q)
		if m := q.out.find(w.first); m != nil {
			v.at = m.begin
		}
		if v.class == rule.Unproven {
			v.detail += "; " + notShown
		}
	default:
		return
	}
	a.accuse(q, v)
}

// oddAt is the first response to a request that does not fit it.
func (s *stream) oddAt(w *work) where {
	for _, n := range s.odd {
		if n.ord >= w.first && n.ord <= w.last() {
			return n.at
		}
	}
	return where{}
}
