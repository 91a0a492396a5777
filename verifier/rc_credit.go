package verifier

import (
	"ibwitness/hcaagent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// rcCredits takes the end-to-end credits of a response (table T3): the requester may send SENDs up to message MSN + credits.
func (v *Verifier) rcCredits(c *qp.Pair, from int, p *packet.Packet) {
	q, r := &c.Ends[1-from].SQ, &c.Ends[from].RQ
	if p.Has&packet.HasAETH == 0 {
		return
	}
	n, limited := p.Syndrome.Credits()
	if e := &c.Ends[from]; e.Knows(hcaagent.KnowsCredits) && !e.Attr.Credits {
		d := verdict{
			rule: rule.RCCRD006, class: rule.Violation, role: rule.Responder,
			expected: "credit code 31: connected without end-to-end flow control", actual: p.Syndrome.String(),
		}
		if e.Attr.SRQ {
			d.rule, d.expected = rule.RCCRD003, "credit code 31: it receives from a shared receive queue"
		}
		v.covered(d.rule)
		if limited {
			v.report(c, from, p, d)
		}
	}
	if !limited || r.MSN != qp.MSNKnown {
		q.Credited = false
		return
	}
	limit := (p.MSN + n - r.MSNBase) & packet.PSNMask
	switch {
	case !q.Credited:
		q.Credited, q.Limit = true, (limit+uncredited(q, p.MSN-r.MSNBase))&packet.PSNMask
		if !c.Sees(1 - from) {
			q.Lost().CreditedAt = p.Time
		}
	case packet.PSN(limit).After(packet.PSN(q.Limit)):
		q.Limit = limit // credit codes round down, so a later response may give less; the requester keeps the greatest
	}
}

// uncredited counts the messages behind the first n that needed no credit when they began.
func uncredited(q *qp.SendQueue, n uint32) (free uint32) {
	for i := q.Messages.Len() - 1; i >= 0; i-- {
		w := q.Messages.At(i)
		if !packet.PSN((w.Ordinal + 1) & packet.PSNMask).After(packet.PSN(n & packet.PSNMask)) {
			break
		}
		if w.Op != wqe.Send {
			free++
		}
	}
	return free
}
