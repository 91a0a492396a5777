package rc

import (
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// Finish judges what of an RC connection was still open when the capture ended, at time end.
func (v *Verifier) Finish(c *qp.Pair, end int64) {
	v.judgeEarly(c, atEnd)
	if c.PMTU == 0 && c.OddPayloadLen() != 0 {
		v.oneShows(c)
	}
	for from := range c.Ends {
		if q := &c.Ends[from].SQ; q.ReadDispute() != nil {
			v.unresolved(c, from, q.ReadDispute(), end)
		}
		if pending := c.RQ(from).Pending; pending != nil && pending.AnsweredAt != 0 {
			v.unanswered(c, from, end-pending.AnsweredAt >= silence)
		}
		v.missingAckReq(c, from, end)
		v.givesUp(c, from, end)
	}
	v.Silent(c, end)
	v.JumpsAtEnd(c, rule.RCPSN004, rule.Requester)
}

// TakeWrongService is that of verifier.Verifier for a service that acknowledges: what it replaces may also be a request that is retransmitted, or a response.
func (v *Verifier) TakeWrongService(c *qp.Pair, p *packet.Packet, class rule.Class, evidence ...uint64) {
	v.WrongService(c, p, class, evidence)
	v.Replaces(c, p)
}

// Replaces takes a packet that is not of the stream of its sender for the one that it had to send.
func (v *Verifier) Replaces(c *qp.Pair, p *packet.Packet) {
	from := c.End(p)
	q, peer := &c.Ends[from].SQ, &c.Ends[1-from].SQ
	if q.Joined && q.ReadLen != 0 {
		v.settleRead(c, from, p)
	}
	if v.ReplacesNext(c, p) {
		return
	}
	if q.Joined && !p.PSN.Before(q.Una) && p.PSN.Before(q.High) {
		retransmittedAs(c, from, p)
		return
	}
	if w, _ := peer.Messages.Find(p.PSN); w != nil && w.Op.Responded() && !w.Last.Before(peer.Una) {
		q.ExplainNextGap() // the response that will be missing
		w.Flags |= wqe.Accused
	}
}
