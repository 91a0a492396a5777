package verifier

import (
	"ibwitness/hcaagent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// rcCredits takes the end-to-end credits of a response (table T3): the requester may send SENDs up to message MSN + credits.
func (v *Verifier) rcCredits(c *qp.Pair, from int, p *packet.Packet) {
	q, r := &c.Ends[1-from].SQ, &c.Ends[from].RQ
	if p.Has&packet.HasAETH == 0 {
		return
	}
	n, limited := p.Syndrome.Credits()
	if e := &c.Ends[from]; e.Knows(hcaagent.KnowsCredits) && !e.Attr.Credits {
		v.covered(rule.RCCRD006)
		if limited {
			v.report(c, from, p, verdict{
				rule: rule.RCCRD006, class: rule.Violation, role: rule.Responder,
				expected: "credit code 31: connected without end-to-end flow control", actual: p.Syndrome.String(),
			})
		}
	}
	if !limited || r.MSN != qp.MSNKnown {
		q.Credited = false
		return
	}
	limit := (p.MSN + n - r.MSNBase) & packet.PSNMask
	if !q.Credited || packet.PSN(limit).After(packet.PSN(q.Limit)) {
		q.Limit = limit // credit codes round down, so a later response may give less; the requester keeps the greatest
	}
	q.Credited = true
}
