package rc

import (
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/wqe"
)

// Two mirrored ports show a packet twice, and a capture that loses frames may lose the first of the two: the second comes after
// later packets, and looks as if it was retransmitted. Its IPv4 identification is between those of its neighbors in the stream.
// One that was retransmitted left after all of these.

// secondOnly reports whether request p, which the capture has not shown yet, is such a second. It is
// asked of what looks as if it was retransmitted.
func (v *Verifier) secondOnly(c *qp.Pair, from int, p *packet.Packet) bool {
	if v.SecondOnly == nil || wqe.OpOf(p.Opcode.Fn()).Responded() || !v.SecondOnly(p) {
		return false
	}
	before, after, known := c.Ends[from].SQ.Around(p.PSN)
	return known && verifier.LeftAfter(p, before) && verifier.LeftBefore(p, after)
}

// takeSecond takes such a request as sent once, before those that the capture has shown already.
func (v *Verifier) takeSecond(c *qp.Pair, from int, p *packet.Packet) {
	q, in := &c.Ends[from].SQ, p.Info()
	if v.Payload(c, from, p, nil, rule.Requester, rule.RCLEN001, rule.RCLEN002, rule.RCLEN003); in.Last || in.Only {
		c.Ends[from].CountMessage()
	}
	q.NoteRetransmitted(p) // a NAK for it may have met it on its way, as one for a request that was
	q.Reorder()
	c.RQ(1 - from).MSN.Lose()
	q.CountFoundBefore(p.PSN)
	if !p.PSN.Before(q.Una) { // else its place may be another's
		q.History().Put(p.PSN, p.Frame, v.Trace(p), q.High.Diff(q.Una))
	}
	if p.AckReq {
		q.StartTimer(p.Time)
	}
}
