package rc

import (
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// arrives is the responder's incoming verifier: what a request makes the responder expect next and what it now owes. Were nothing
// lost after the tap, the responder accepts the expected PSN, answers one before it as a duplicate, and one after it with a NAK.
func (v *Verifier) arrives(c *qp.Pair, from int, p *packet.Packet) {
	end := &c.Ends[1-from]
	r := c.RQ(1 - from)
	if c.Invalidated && end.SQ.InvRKey != 0 && wqe.OpOf(p.Opcode.Fn()) == wqe.Send {
		c.Revalidate(1 - from) // the peer may have sent the R_Key of memory registered again
	}
	if v.Broken {
		if (r.State == qp.RNRNAKed || r.State == qp.SequenceNAKed) && p.PSN == r.NAK.PSN {
			c.Ends[from].SQ.MayCross() // it may be what the NAK asks for
		}
		return // a receiver drops it; if it does not, its answer will say so
	}
	switch d := p.PSN.Diff(r.EPSN); {
	case d == 0:
		r.Expect(p.PSN.Add(psns(c, from, p)))
		if (r.State == qp.SequenceNAKed || r.State == qp.RNRNAKed) && p.PSN == r.NAK.PSN {
			r.CloseNAK()
		}
	case d < 0:
		r.NoteDuplicate(c.Ends[from].SQ.High)
		if op := wqe.OpOf(p.Opcode.Fn()); p.AckReq && (op == wqe.Send || op == wqe.Write) && (p.ICRCState == packet.CRCGood || !c.Sealed(from)) {
			r.OweDuplicate(p)
		}
		if d := r.Pending; d != nil && !p.PSN.Before(d.Request.PSN) && p.PSN.Before(retransmitted(&c.Ends[from].SQ, d)) {
			d.CountRequest()
		}
		c.Both()
		end.CountDuplicate()
		v.Event(c, from, rule.Requester, p, rule.EvDuplicate, "")
	default:
		c.Ends[from].SQ.NoteExpected(r.EPSN)
	}
}

// psns is how many PSNs request p takes: where that is not known, as many as the request after it leaves room for.
func psns(c *qp.Pair, from int, p *packet.Packet) int {
	n := c.PSNs(p)
	if n == 0 {
		n = 1
		if w, _ := c.Ends[from].SQ.Messages.Find(p.PSN); w != nil {
			n = w.Last.Diff(p.PSN) + 1
		}
	}
	return n
}
