package verifier

import (
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// FinishRC judges what of an RC connection was still open when the capture ended, at time end.
func (v *Verifier) FinishRC(c *qp.Pair, end int64) {
	v.rcEarly(c, atEnd)
	if c.PMTU == 0 && c.Odd != 0 {
		v.rcOneShows(c)
	}
	for from := range c.Ends {
		if q := &c.Ends[from].SQ; q.Doubt() != nil {
			v.rcUnresolved(c, from, q.Doubt(), end)
		}
		if owed := c.Ends[from].RQ.Owed; owed != nil && owed.Paid != 0 {
			v.rcUnanswered(c, from, end-owed.Paid >= silence)
		}
		v.rcQuiet(c, from, end)
	}
	v.Silent(c, end)
	v.leapsEnd(c, rule.RCPSN004, rule.Requester)
}

// StrangerRC is Stranger for a service that acknowledges: what it replaces may also be a request that is retransmitted, or a response.
func (v *Verifier) StrangerRC(c *qp.Pair, p *packet.Packet, class rule.Class, evidence ...uint64) {
	v.wrongService(c, p, class, evidence)
	v.rcReplaces(c, p)
}

// rcReplaces takes a packet that is not of the stream of its sender for the one that it had to send.
func (v *Verifier) rcReplaces(c *qp.Pair, p *packet.Packet) {
	from := c.End(p)
	q, peer := &c.Ends[from].SQ, &c.Ends[1-from].SQ
	if q.Joined && q.ReadLen != 0 {
		v.rcSettleRead(c, from, p)
	}
	if v.replaces(c, p) {
		return
	}
	if q.Joined && !p.PSN.Before(q.Una) && p.PSN.Before(q.High) {
		rcCameAs(c, from, p)
		return
	}
	if w, _ := peer.Messages.Find(p.PSN); w != nil && w.Op.Responded() && !w.Last.Before(peer.Una) {
		q.Excuse() // the response that will be missing
		w.Flags |= wqe.Accused
	}
}
