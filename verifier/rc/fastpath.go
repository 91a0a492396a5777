package rc

import (
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// usual reports whether there is nothing out of the ordinary about the requests of end from and the responses to them. A packet of the
// fast path changes none of this, so that what the verifiers proper left is true until they are asked again: the fast path asks
// only SendQueue.Usual. What else writes one of these fields sets Joined or Usual to false.
func usual(c *qp.Pair, from int) bool {
	q, r := &c.Ends[from].SQ, c.RQ(1-from)
	if !c.Certain() || q.Next < q.Una || r.Last.Positive && q.Next < r.Last.PSN {
		return false // or PSNs wrap, and that is not acknowledged: see coverage.go
	}
	return q.State() == qp.InOrder && q.Certain() && !q.Stalled() && !q.NextDropped() && !q.InTail() && r.EPSN == q.Next && r.Certain()
}

// settle says, after the verifiers proper, whether the next packets are the fast path's.
func (v *Verifier) settle(c *qp.Pair) {
	for i := range c.Ends {
		if i == 1 && c.OneWay() {
			return
		}
		q := &c.Ends[i].SQ
		if !v.Thorough && usual(c, i) {
			q.Settle(true, limited(c, i))
			q.GoesOn()
		} else {
			q.Settle(false, 0)
		}
		q.Messages.Unanswered()
	}
}

// limited is what attributes limit of the requests of end from and the responses to them.
func limited(c *qp.Pair, from int) (l qp.Limit) {
	a, b := c.Ends[from].Attr, c.Ends[1-from].Attr
	if a != nil || b != nil {
		l |= qp.LimitedReads
	}
	if b != nil && b.Has(qp.KnowsCredits) && !b.Credits {
		l |= qp.LimitedCredits
	}
	return l
}

// ExpectedRules are the rules that the fast path claims to cover in packets of these opcodes.
func ExpectedRules(opcodes []packet.Opcode) (ids []rule.ID) {
	for _, o := range opcodes {
		ids = append(ids, expectations[o].covered...)
	}
	return ids
}

// FastPathPackets is how many packets the fast path has taken.
func (v *Verifier) FastPathPackets() (n uint64) {
	for o := range v.expected {
		n += v.expected[o]
	}
	return n
}
