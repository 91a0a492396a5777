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
	v.finish(c, rule.RCPSN004, rule.Requester)
}

// FinishUC judges what of a UC connection was still open when the capture ended.
func (v *Verifier) FinishUC(c *qp.Pair) { v.finish(c, rule.UCPSN001, rule.Sender) }

func (v *Verifier) finish(c *qp.Pair, id rule.ID, role rule.Role) {
	for from := range c.Ends {
		v.leapEnds(c, from, id, role)
	}
	v.steady(c)
	if c.Stranger != nil && c.Stranger.Opcode < 0xC0 {
		v.stranger(c, c.Stranger, rule.Unproven)
	}
}

// Stranger reports a packet of another service than the QP that it names (rule BTH-004); after is the frame that shows that the QP
// still has its service.
func (v *Verifier) Stranger(c *qp.Pair, p *packet.Packet, after uint64) {
	v.stranger(c, p, rule.Violation, after)
}

// Expects reports whether a packet has the PSN of the next request of end from, or of one of its peer's that waits for its answer.
func (v *Verifier) Expects(c *qp.Pair, from int, p *packet.Packet) bool {
	q, other := &c.Ends[from].SQ, &c.Ends[1-from].SQ
	return q.Joined && p.PSN == q.Next || other.Joined && !p.PSN.Before(other.Una) && p.PSN.Before(other.Next)
}

func (v *Verifier) stranger(c *qp.Pair, p *packet.Packet, class rule.Class, evidence ...uint64) {
	from := c.End(p)
	d := rule.Verdict{
		Rule: rule.BTH004, Class: class, Role: rule.Sender,
		Expected: "an opcode of " + c.Service.String(), Actual: p.Opcode.String(), Evidence: evidence,
	}
	if p.Opcode.Service() == packet.XRC && c.Service == packet.XRC {
		d.Rule, d.Role, d.Expected = xrcRole(p)
	}
	if in := p.Info(); in.Defined || p.Opcode >= 0xC0 || p.Opcode.Service() <= packet.UC || p.Opcode.Service() == packet.XRC {
		v.covered(d.Rule)
		v.report(c, from, p, d)
	} // else BTH-003
	q := &c.Ends[from].SQ
	if c.Reliable() && q.Joined && q.ReadLen != 0 {
		v.rcSettleRead(c, from, p)
	}
	switch w, _ := c.Ends[1-from].SQ.Messages.Find(p.PSN); {
	case q.Joined && p.PSN == q.Next:
		q.Excused = true
		c.Misplace(p.PSN)
	case c.Reliable() && q.Joined && !p.PSN.Before(q.Una) && p.PSN.Before(q.High):
		rcCameAs(c, from, p)
	case c.Reliable() && w != nil && w.Op.Responded() && !w.Last.Before(c.Ends[1-from].SQ.Una):
		q.Excused = true // the response that will be missing
		w.Flags |= wqe.Accused
	}
}

// Event counts a legal thing that packet p shows of end who.
func (v *Verifier) Event(c *qp.Pair, who int, p *packet.Packet, id rule.ID, detail string) {
	v.event(c, who, rule.NoRole, p, id, detail)
}

// Hidden deals with a packet whose extension headers the snap length cut off: how many PSNs a READ takes, what an AETH says is not
// known. The requester's stream is joined again with its next packet.
func (v *Verifier) Hidden(c *qp.Pair, from int, p *packet.Packet) {
	v.Skipped[SkipCut]++
	v.Unfollowed(p)
	if p.Info().Request {
		c.Ends[from].SQ.Joined, c.Ends[from].SQ.Usual = false, false
	}
}

// Short judges a packet that is too short for its headers (see misfit). c is the connection that it belongs to, sent by end from, or nil.
func (v *Verifier) Short(c *qp.Pair, from int, p *packet.Packet) {
	id := misfit(p)
	v.covered(id)
	v.Unfollowed(p)
	if p.Cut {
		v.Skipped[SkipCut]++
		return
	}
	if c != nil {
		c.Ends[from].SQ.Excused = true
	}
	if p.Has&packet.HasBTH != 0 && p.Opcode.Service() == packet.RD {
		v.Malformed(p)
	}
	b := p.Bare()
	b.Has &^= packet.HasDETH // these bytes are another header
	v.bytewise(c, from, b, rule.Verdict{
		Rule: id, Class: rule.Proven(p.ICRCState == packet.CRCGood), Role: rule.Sender,
		Expected: misfits[id], Actual: "fewer bytes than its headers take",
	})
}
