package stream

import (
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/verifier"
	"ibwitness/wqe"
)

// atOnce is how soon it comes where no IPv4 identification distinguishes it from a packet that was retransmitted.
const atOnce = verifier.CopyTime / 100

// NetworkCopy reports whether p is a copy of an earlier frame that something on the path made: the sender numbers its IPv4 packets,
// so a retransmission has another identification; without one, a copy follows its original at once. A NAK or part of an answer that came
// since is a reason to retransmit it.
func (v *Verifier) NetworkCopy(c *qp.Pair, from int, t packet.Trace, p *packet.Packet) bool {
	is := v.sameRequest(c, from, t, p)
	if is {
		v.Copied(c, from, p)
		since := int64(-1)
		if q := &c.Ends[from].SQ; q.Last.PSN == p.PSN {
			since = p.Time - q.Last.Time
		}
		v.CountCopy(p, since)
	}
	return is
}

func (v *Verifier) sameRequest(c *qp.Pair, from int, t packet.Trace, p *packet.Packet) bool {
	q, r := &c.Ends[from].SQ, c.RQ(1-from)
	if r.State != qp.Expecting && r.NAK.Time >= q.Last.Time {
		return false
	}
	if verifier.Numbered(p) && !sameNumber(c, from, p) {
		return p.IPID == t.IPID && sameBytes(v.Trace(p), t) || likeNewest(q, p) && packet.SameContent(p, t)
	}
	if q.Last.PSN != p.PSN || p.Time-q.Last.Time >= atOnce || nakWaits(c, from, p) {
		return false
	}
	return !partAnswered(q, p) && sameBytes(v.Trace(p), t)
}

// partAnswered reports whether a part of the answer to the READ at the PSN of request p has come since the newest request.
func partAnswered(q *qp.SendQueue, p *packet.Packet) bool {
	w, _ := q.Messages.Find(p.PSN)
	return w != nil && w.Op == wqe.Read && !w.Has(wqe.Answered) && w.RespFrame != 0 && packet.FrameNear(p.Frame, w.RespFrame) > q.Last.Frame
}

// likeNewest reports whether request p has the PSN and the number of the newest one, which may have been retransmitted.
func likeNewest(q *qp.SendQueue, p *packet.Packet) bool {
	return q.Last.PSN == p.PSN && q.Last.ID == p.IPID && p.Time-q.Last.Time < verifier.CopyTime
}

// nakWaits reports whether a PSN sequence NAK names the PSN of request p, and has come since the newest request, which had that too and is not acknowledged: it has not been judged, as nothing was seen after that PSN.
func nakWaits(c *qp.Pair, from int, p *packet.Packet) bool {
	q := &c.Ends[from].SQ
	if p.PSN.Before(q.Una) {
		return false // it is acknowledged
	}
	for i := range c.Early() {
		e := &c.Early()[i].Packet
		if e.PSN == p.PSN && e.Opcode.Fn() == packet.Acknowledge && e.Syndrome == packet.NAKSequence && c.End(e) != from && e.Time >= q.Last.Time {
			return true
		}
	}
	return false
}

// sameBytes reports whether two traces are those of one packet. Of it and its copy, one may have been damaged on the way where no ICRC shows it.
func sameBytes(a, b packet.Trace) bool {
	a.Flags, b.Flags = a.Flags|packet.TraceSealed, b.Flags|packet.TraceSealed
	return a == b
}

// sameNumber reports whether the sender of p gives all its packets one IPv4 identification, as an open stack in an FPGA does: another packet that it
// sent, with another PSN, has that of p.
func sameNumber(c *qp.Pair, from int, p *packet.Packet) bool {
	q, r := &c.Ends[from].SQ, c.RQ(from)
	if q.Last.PSN != p.PSN && q.Last.ID == p.IPID || (r.Last.Positive || c.Ends[from].Lone().Seen) && r.Last.ID == p.IPID {
		return true
	}
	before := q.History().Get(p.PSN.Add(-1))
	return before != nil && before.Trace.IPID == p.IPID
}
