package rc

import (
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/wqe"
)

// A network that sends the packets of one connection over several paths delivers them in another order than they left in. The IPv4 identifications, which count up as packets
// leave, tell one that comes late from one that is retransmitted: that one leaves after all that overtook the first.

// lateFirst reports whether request p, which is missing in the open gap, is the first copy: it left before what has come.
func (v *Verifier) lateFirst(c *qp.Pair, from int, p *packet.Packet) bool {
	q := &c.Ends[from].SQ
	if !q.Gap.Open() || !p.PSN.In(q.Gap.From, q.Gap.To.Add(-1)) || q.Next != q.High || q.Retransmission.Active || c.Sees(from) || !q.Sprayed() || !verifier.Numbered(p) {
		return false
	}
	near := q.Last.Tap == p.Tap && p.Time-q.Last.Time <= reordering
	return near && !wqe.OpOf(p.Opcode.Fn()).Responded() && q.History().Get(p.PSN) == nil && verifier.LeftBefore(p, q.LeftAs())
}

// takeLateFirst puts such a request where it belongs. What came after it goes on as it was: nothing is retransmitted.
func (v *Verifier) takeLateFirst(c *qp.Pair, from int, p *packet.Packet) {
	q, in := &c.Ends[from].SQ, p.Info()
	v.Event(c, from, rule.Network, p, rule.EvOutOfOrder, "")
	if v.Payload(c, from, p, nil, rule.Requester, rule.RCLEN001, rule.RCLEN002, rule.RCLEN003); in.Last || in.Only {
		c.Ends[from].CountMessage()
	}
	if !v.Unordered(c, from) {
		q.CountOvertaken(p, q.OvertakenAfter(), true)
	}
	v.sprayed(c, from, p)
	if p.PSN == q.Gap.From {
		q.NoteLate(p)
	}
	q.NoteRetransmitted(p)
	q.Reorder()
	c.RQ(1 - from).MSN.Lose()
	q.FillHole(p.PSN)
	q.History().Put(p.PSN, p.Frame, v.Trace(p), q.High.Diff(q.Una))
	if p.AckReq {
		q.StartTimer(p.Time)
	}
}

// sprayed counts request p, which left before what has overtaken it, and takes back that those were missing which are shown to be late.
func (v *Verifier) sprayed(c *qp.Pair, from int, p *packet.Packet) {
	if c.RQ(1-from).NAK.Time != 0 {
		return // its responder takes none out of order
	}
	for _, psn := range c.Ends[from].SQ.CountSprayed(p) {
		for _, id := range []rule.ID{rule.RCPSN004, rule.RCPSN001} {
			if i := v.blamed(c, from, id, uint64(rule.GapAt(psn))); i >= 0 && v.Rec.Findings[i].Class == rule.Unproven {
				v.Rec.Remove(i)
			}
		}
	}
}
