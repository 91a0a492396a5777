package rc

import (
	"fmt"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/verifier/stream"
	"ibwitness/wqe"
)

// fullPayload reports whether a response has as much payload as one that is not the last of its READ.
func fullPayload(c *qp.Pair, p *packet.Packet) bool {
	if c.PMTU == 0 {
		return wqe.ValidMTU(p.PayloadLen)
	}
	return p.PayloadLen == int(c.PMTU)
}

// disputeRead follows the responses to the newest READ from the first on that does not fit it. Where they are, in order, the answer to a READ
// of another length, who is wrong shows with the next request: what is said against the responder is held back until then.
func (v *Verifier) disputeRead(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) {
	q, in := &c.Ends[1-from].SQ, p.Info()
	ended := in.Last || in.Only
	full := ended || fullPayload(c, p)
	if d := q.ReadDispute(); d != nil {
		if d.Ended || p.PSN != d.Next || in.First || in.Only || !full {
			v.reportHeld(q, d)
			return
		}
		d.Continue(p.PSN.Add(1), ended)
		if ended && q.Gap.Open() {
			v.disputeBeforeGap(c, from, d)
		}
		return
	}
	if full && disputes(c, from, p, w) {
		q.OpenReadDispute(p.PSN.Add(1), ended)
	}
}

// disputes reports whether p is the next response to READ w, the newest request, with an opcode that is right only for another length.
func disputes(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) bool {
	q, r, in := &c.Ends[1-from].SQ, c.RQ(from), p.Info()
	if !nextOfNewest(q, r, p, w) || p.Opcode == readOpcode(p, w.First, w.Last) {
		return false
	}
	begins, ended := in.First || in.Only, in.Last || in.Only
	if w.Has(wqe.Unsized) && (begins && p.PayloadLen < int(w.Length) || ended && p.PayloadLen == int(w.Length)) {
		return false
	}
	// Where the READ is the first request that was seen, its own PSN may be wrong too; but then this is not the first response.
	joined := w.First == q.First && !c.Ends[1-from].Knows(qp.KnowsSQPSN) && c.Ends[from].Packets() > 1
	return begins == (p.PSN == w.First) || !begins && joined
}

// nextOfNewest reports whether p is, by its PSN, the next response to READ w, the newest request, of which nothing was reported.
func nextOfNewest(q *qp.SendQueue, r *qp.ReceiveQueue, p *packet.Packet, w *wqe.SendWQE) bool {
	last := q.Last.PSN == w.First && !q.Gap.Open() || q.Gap.Open() && q.Gap.From == w.Last.Add(1) // nothing after it, or a gap
	return last && !r.DuplicateRequest && r.State == qp.Expecting && p.PSN == w.RespNext() && w.Flags&(wqe.Reissued|wqe.Gapped|wqe.Holed|wqe.Answered|wqe.Blamed) == 0
}

// disputeContinues takes a response after the last PSN of the READ that is in doubt, if it continues the answer.
func (v *Verifier) disputeContinues(c *qp.Pair, from int, p *packet.Packet) bool {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	fn := p.Opcode.Fn()
	if d := q.ReadDispute(); d == nil || d.Ended || p.PSN != d.Next || fn != packet.ReadRespMiddle && fn != packet.ReadRespLast ||
		fn == packet.ReadRespMiddle && c.PMTU != 0 && p.PayloadLen != int(c.PMTU) {
		return false
	}
	v.disputeRead(c, from, p, nil)
	r.Last.Came(p)
	return true
}

// disputeBeforeGap ends a doubt about a READ before a gap with the Last response: where it is right before the end of the gap, the READ
// asked for less than its requester meant, and the gap, which was reported, is none.
func (v *Verifier) disputeBeforeGap(c *qp.Pair, from int, d *qp.ReadDispute) {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	i := q.Messages.UpTo(q.Gap.From)
	if d.Next != q.Gap.To || i < 0 || q.Messages.At(i).Last.Add(1) != q.Gap.From {
		v.reportHeld(q, d)
		return
	}
	w := q.Messages.At(i)
	q.CloseReadDispute()
	requester, responder := verifier.Endpoint(&c.Ends[1-from]), verifier.Endpoint(&c.Ends[from])
	for _, k := range v.Rec.About(rule.RCPSN004, requester, responder, uint64(rule.GapAt(q.Gap.From))) {
		if v.Rec.Findings[k].Peer.QPN == responder.QPN {
			v.Rec.Remove(k)
			break
		}
	}
	after := q.Last.Frame
	if s := q.History().Get(q.Gap.To); s != nil {
		after = packet.FrameNear(q.Last.Frame, s.Frame)
	}
	v.wrongRead(c, 1-from, w, d.Next, after)
	if !w.Has(wqe.Answered) {
		q.ReadDone()
	}
	q.EndAt(w, d.Next.Add(-1))
	w.Flags |= wqe.Answered | wqe.Blamed
	q.CloseGap()
	q.AssumeAcknowledged(packet.Later(q.Una, d.Next))
	r.ExpectFrom(q.Next)
	r.MSN.Lose()
	q.Break()
}

// reportHeld makes the findings that were held back.
func (v *Verifier) reportHeld(q *qp.SendQueue, d *qp.ReadDispute) {
	q.CloseReadDispute()
	for _, f := range d.Held {
		v.Rec.Add(f)
	}
}

// resolve ends a doubt with the next request p: where it goes by the responses, the READ was wrong (rule RC-PSN-003), else they were.
func (v *Verifier) resolve(c *qp.Pair, from int, p *packet.Packet, d *qp.ReadDispute) {
	q, r := &c.Ends[from].SQ, c.RQ(1-from)
	w := q.Messages.Newest()
	if !d.Ended || p.PSN != d.Next || w == nil || w.Op != wqe.Read || q.Last.PSN != w.First || d.Next == w.Last.Add(1) && !w.Has(wqe.Unsized) || stream.AsksForTail(w, p) {
		v.reportHeld(q, d)
		return
	}
	q.CloseReadDispute()
	v.wrongRead(c, from, w, d.Next, p.Frame)
	if !w.Has(wqe.Answered) {
		q.ReadDone()
	}
	q.EndAt(w, d.Next.Add(-1))
	w.Flags = w.Flags&^wqe.Unsized | wqe.Answered | wqe.Blamed
	q.Resume(d.Next)
	q.AssumeAcknowledged(d.Next)
	r.Expect(d.Next)
	q.EndRetransmission()
	r.MSN.Lose()
	q.Break()
}

// wrongRead reports READ w of end from: its responses end before PSN end, which the next request has, in frame after.
func (v *Verifier) wrongRead(c *qp.Pair, from int, w *wqe.SendWQE, end packet.PSN, after uint64) {
	q := &c.Ends[from].SQ
	v.Covered(rule.RCPSN003)
	read := packet.Packet{
		Time: q.Last.Time, Tap: q.Last.Tap, Frame: packet.FrameNear(q.Last.Frame, w.Frame), Opcode: packet.Op(c.Service, packet.ReadRequest), PSN: w.First, Has: packet.HasBTH,
	}
	v.Report(c, from, &read, rule.Verdict{
		Rule: rule.RCPSN003, Class: rule.Proven(c.Complete()), Role: rule.Requester,
		Expected: fmt.Sprintf("a READ whose PSNs end before %v, where its responses end and the next request begins", end),
		Actual:   fmt.Sprintf("PSN %v and DMALen %d", w.First, w.Length),
		Evidence: []uint64{after},
	})
}

// unresolved ends a doubt about a READ of end from with the capture, at time end. If the answer was seen to stop short, though nothing of
// it can have been missed, it is wrong by whatever READ.
func (v *Verifier) unresolved(c *qp.Pair, from int, d *qp.ReadDispute, end int64) {
	q, r := &c.Ends[from].SQ, c.RQ(1-from)
	stops := !d.Ended && c.Sees(1-from) && end-r.Last.Time >= silence
	for i := range d.Held {
		if f := &d.Held[i]; f.Class == rule.Violation && !stops {
			f.Class, f.Detail = rule.Unproven, "no request after the READ shows how many PSNs it takes"
		}
	}
	v.reportHeld(q, d)
}
