package rc

import (
	"fmt"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// credits takes the end-to-end credits of a response (table T3): the requester may send SENDs up to message MSN + credits.
func (v *Verifier) credits(c *qp.Pair, from int, p *packet.Packet) {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	if p.Has&packet.HasAETH == 0 {
		return
	}
	n, limited := p.Syndrome.Credits()
	if e := &c.Ends[from]; e.Knows(qp.KnowsCredits) && !e.Attr.Credits {
		d := rule.Verdict{
			Rule: rule.RCCRD006, Class: rule.Violation, Role: rule.Responder,
			Expected: "credit code 31: connected without end-to-end flow control", Actual: p.Syndrome.String(),
		}
		if e.Attr.SRQ {
			d.Rule, d.Expected = rule.RCCRD003, "credit code 31: it receives from a shared receive queue"
		}
		v.Covered(d.Rule)
		if limited {
			v.Report(c, from, p, d)
		}
	}
	if !limited || r.MSN.Degree != qp.MSNKnown {
		q.CloseCredits()
		q.CloseGrant()
		return
	}
	v.granted(c, from, p, n)
	limit := (p.MSN + n - r.MSN.Base) & packet.PSNMask
	switch {
	case !q.Credits.Limited:
		q.GiveCredits(limit + uncredited(q, p.MSN-r.MSN.Base))
		if !c.Sees(1 - from) {
			q.CreditedSince(p.Time)
		}
	case packet.PSN(limit).After(packet.PSN(q.Credits.Limit)):
		q.GiveCredits(limit) // credit codes round down, so a later response may give less; the requester keeps the greatest
	}
}

// granted judges that a responder does not take back credits that it has given (rule RC-CRD-005). Codes round down, so that there may be as many as just
// do not make the next code, and one message more that has its receive request already; and what has begun may have taken its own before it counts in the MSN.
func (v *Verifier) granted(c *qp.Pair, from int, p *packet.Packet, n uint32) {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	before := func(a, b uint32) bool { return packet.PSN(a & packet.PSNMask).Before(packet.PSN(b & packet.PSNMask)) }
	if q.Granted.By&qp.GrantedSet != 0 && before(q.Granted.By, p.MSN) && !before(q.Count+r.MSN.Base, p.MSN) {
		v.Covered(rule.RCCRD005)
		if next, more := (p.Syndrome + 1).Credits(); more && before(q.Count+r.MSN.Base+next, q.Granted.Limit) {
			v.Report(c, from, p, rule.Verdict{
				Rule: rule.RCCRD005, Class: rule.Proven(c.Complete() && len(c.Early()) == 0), Role: rule.Responder,
				Expected: fmt.Sprintf("credits up to message %d, as were given with MSN %d", q.Granted.Limit, q.Granted.By&packet.PSNMask),
				Actual:   fmt.Sprintf("up to message %d: MSN %d and %d credits", (p.MSN+n)&packet.PSNMask, p.MSN, n),
			})
			q.CloseGrant()
		}
	}
	if q.Granted.By == 0 || before(q.Granted.Limit, p.MSN+n) {
		q.Grant(p.MSN+n, p.MSN)
	}
}

// uncredited counts the messages after the first n that needed no credit when they began.
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
