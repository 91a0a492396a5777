package rc

import (
	"fmt"

	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/wqe"
)

// someMTUFits reports whether some path MTU makes a READ of length bytes take n PSNs.
func someMTUFits(c *qp.Pair, length uint32, n int) bool {
	for m := uint32(256); wqe.ValidMTU(int(m)); m *= 2 {
		if m >= c.LeastPMTU() && wqe.Packets(length, m) == n {
			return true
		}
	}
	return false
}

// settleRead deals with the request after a READ whose PSNs wait for the path MTU. If one explains the PSN of that request, the READ is
// taken for that long until it shows; but what was lost between the two looks the same.
func (v *Verifier) settleRead(c *qp.Pair, from int, p *packet.Packet) {
	q, r := &c.Ends[from].SQ, c.RQ(1-from)
	w := q.Messages.Newest()
	if w == nil || !w.Has(wqe.Unsized) {
		q.AwaitSize(0)
		return
	}
	n := p.PSN.Diff(w.First)
	if n <= 0 {
		return
	}
	if v.settlesMTU(c, from, p, w, n) {
		return
	}
	end := p.PSN
	if n > 1 && q.High.After(w.First.Add(1)) {
		if psn, known := q.History().First(w.First.Add(1), p.PSN.Add(-1)); known { // what overtook the READ is there
			n, end = psn.Diff(w.First), psn
		}
	}
	if !someMTUFits(c, w.Length, n) {
		return
	}
	r.MoveEPSN(w.Last.Add(1), end)
	q.MoveRetransmission(w.Last.Add(1), end)
	if q.EndAt(w, end.Add(-1)); q.Gap.Open() && q.Gap.From.In(w.First, w.Last) {
		q.MoveGap(end)
	}
	q.SizeRead(end)
	if n > 1 && !c.Sees(from) {
		q.Sequence.SetUnsure(true)
		q.Break()
	}
}

// atOnce reports whether request p comes so soon after READ w that it does not ask for the tail of that: it is the next READ, even of a part of the same buffer.
func atOnce(q *qp.SendQueue, w *wqe.SendWQE, p *packet.Packet) bool {
	return q.Last.PSN == w.First && p.Time-q.Last.Time <= int64(verifier.InFlight)
}

// settlesMTU learns the path MTU from request p, n PSNs after READ w: it asks for the tail of it, or follows it by what the first response has shown. It reports
// whether p shows it.
func (v *Verifier) settlesMTU(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE, n int) bool {
	if mtu := tailMTU(w, p, n); mtu != 0 && (mtu == c.OddPayloadLen() || !someMTUFits(c, w.Length, n) || !atOnce(&c.Ends[from].SQ, w, p)) {
		v.LearnPMTU(c, p, mtu)
		return true
	}
	if c.OddPayloadLen() != 0 && (!someMTUFits(c, w.Length, n) || (n > 1 || w.Length != c.OddPayloadLen()) && wqe.Packets(w.Length, c.OddPayloadLen()) == n) {
		v.LearnPMTU(c, p, c.OddPayloadLen())
		return true
	}
	return false
}

// tailMTU is the path MTU by which p, n PSNs after READ w, asks for the tail of it; 0: it does not.
func tailMTU(w *wqe.SendWQE, p *packet.Packet, n int) uint32 {
	done := p.VA - w.VA
	if p.Opcode.Fn() != packet.ReadRequest || p.RKey != w.RKey || p.VA <= w.VA || done >= uint64(w.Length) || uint64(p.DMALen) != uint64(w.Length)-done ||
		done%uint64(n) != 0 || done > 4096*uint64(n) || !wqe.ValidMTU(int(done)/n) {
		return 0
	}
	return uint32(done) / uint32(n)
}

// readEnds learns from a request that is retransmitted how many PSNs the READ before it takes, which was taken for as long as the request that
// was seen after it left room: one between the two was lost then.
func (v *Verifier) readEnds(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[from].SQ
	w, i := q.Messages.Find(p.PSN)
	if w == nil && q.Gap.Open() {
		v.readFills(c, from, p)
	}
	if w == nil || !w.Has(wqe.Unsized) {
		return
	}
	if n := p.PSN.Diff(w.First); n > 0 && someMTUFits(c, w.Length, n) && tailMTU(w, p, n) == 0 {
		v.Sized(c, from, p, i, n)
		if !c.Sees(from) {
			w.Flags |= wqe.Unsized // what follows it may have been lost once more
		}
	}
}

// readFills learns the path MTU from a request within a gap that asks for the tail of the READ before it: the gap begins after the rest of that.
func (v *Verifier) readFills(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[from].SQ
	i := q.Messages.UpTo(p.PSN)
	if i < 0 || q.Messages.At(i).Last.Add(1) != q.Gap.From || !q.Messages.At(i).Has(wqe.Unsized) {
		return
	}
	w := q.Messages.At(i)
	pmtu := tailMTU(w, p, p.PSN.Diff(w.First))
	if pmtu != 0 && pmtu >= c.LeastPMTU() && !w.First.Add(wqe.Packets(w.Length, pmtu)).After(q.Gap.To) {
		v.LearnPMTU(c, p, pmtu)
	}
}

// Sized notes that the READ which is message i of a requester takes n PSNs, as p shows. Until now it was taken for as long as the request
// after it left room.
func (v *Verifier) Sized(c *qp.Pair, from int, p *packet.Packet, i, n int) {
	q := &c.Ends[from].SQ
	w := q.Messages.At(i)
	was, next := w.Last.Add(1), w.First.Add(n)
	w.Flags &^= wqe.Unsized
	q.EndAt(w, next.Add(-1))
	movePSN(c, from, was, next)
	switch newest := i == q.Messages.Len()-1; {
	case newest && q.ReadLen != 0:
		q.SizeRead(next)
		if q.Gap.Open() && q.Gap.From == was {
			q.MoveGap(next)
		}
	case q.Gap.Open() && q.Gap.From == was: // which was reported
		if next.After(q.Gap.To) {
			w.Flags |= wqe.Blamed // it is longer than the gap, so that its own PSN or DMALen may be wrong
		}
		q.MoveGap(next)
	case newest:
	case q.Gap.Open() && was.In(q.Gap.From, q.Gap.To.Add(-1)) && q.History().Get(was) == nil: // nothing was seen to follow it
	case next.Before(was):
		v.gapAfterRead(c, from, p, next, was)
	case next.After(was):
		v.requestWithinRead(c, from, p, w, was, n)
	}
}

// movePSN notes that a READ of end from ends before PSN next, and not before PSN was.
func movePSN(c *qp.Pair, from int, was, next packet.PSN) {
	q, r := &c.Ends[from].SQ, c.RQ(1-from)
	r.MoveEPSN(was, next)
	r.MoveDuplicateTo(was, next)
	q.MoveRetransmission(was, next)
	q.MoveRetransmittedTo(was, next)
}

// requestWithinRead judges the request at a PSN that is one of the n of READ w (rule RC-PSN-003), as p shows.
func (v *Verifier) requestWithinRead(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE, psn packet.PSN, n int) {
	q, next := &c.Ends[from].SQ, w.First.Add(n)
	v.Covered(rule.RCPSN003)
	v.misplaced(c, from, p, psn, rule.Verdict{
		Rule: rule.RCPSN003, Class: rule.Proven(c.Complete() && !w.Has(wqe.Guessed)), Role: rule.Requester,
		Wants: rule.Want(expect.PSN, uint64(next)), Expected: fmt.Sprintf("PSN %v: the READ of %d bytes takes %d PSNs", next, w.Length, n), Actual: "PSN " + psn.String(),
	})
	readOverlap(q, c.RQ(1-from), w, next)
	if early, _ := q.Messages.Find(psn); early != nil {
		early.Flags |= wqe.Blamed // its PSN may be wrong, so that it may be answered at another
	}
}

// readOverlap notes that requests use PSNs that READ w reserved, up to next: which of the two a response there answers, and which of them the responder
// counts, is not certain.
func readOverlap(q *qp.SendQueue, r *qp.ReceiveQueue, w *wqe.SendWQE, next packet.PSN) {
	w.Flags |= wqe.Miscounted
	q.ExtendRead(next)
	q.Reorder()
	r.MSN.Lose()
	q.Break()
}

// answeredRead is the READ that response p goes on to answer, where the request at its PSN, message i of a requester, uses PSNs that a READ before it
// reserved; else message i.
func answeredRead(q *qp.SendQueue, p *packet.Packet, i int) *wqe.SendWQE {
	for k := i; k >= 0; k-- {
		w := q.Messages.At(k)
		if (k == i && w.Op == wqe.Read || w.Has(wqe.Miscounted)) && p.PSN == w.RespNext() && p.PSN.In(w.First, w.Last) && p.Opcode == readOpcode(p, w.First, w.Last) {
			return w
		}
	}
	return q.Messages.At(i)
}

// gapAfterRead deals with a gap that shows only when the requester has gone on after it: it lies between a READ and PSN end.
func (v *Verifier) gapAfterRead(c *qp.Pair, from int, p *packet.Packet, gap, end packet.PSN) {
	q, r := &c.Ends[from].SQ, c.RQ(1-from)
	v.Covered(rule.RCPSN004)
	v.misplaced(c, from, p, end, rule.Verdict{
		Rule: rule.RCPSN004, Class: rule.Proven(c.Sees(from)), Role: rule.Requester,
		Wants: rule.Want(expect.PSN, uint64(gap)), Expected: "PSN " + gap.String(), Actual: fmt.Sprintf("PSN %v, %d ahead", end, end.Diff(gap)), Detail: verifier.LossDetail(c, from), Gap: rule.GapAt(gap),
	})
	q.Break()
	r.MSN.Lose()
	switch {
	case gap.Before(q.Una): // the responder has got what the tap has not
		if !c.Lossy && !c.Sees(1-from) {
			c.Lose()
		}
		return
	case !q.Gap.Open():
		q.BeginGap(gap, end, false)
	case gap.Before(q.Gap.From):
		q.ExtendGap(gap)
	}
	if r.State == qp.Expecting && r.EPSN.After(gap) {
		r.Expect(gap)
	}
}

// misplaced reports the request at psn for standing there: p, which shows it, or one before p.
func (v *Verifier) misplaced(c *qp.Pair, from int, p *packet.Packet, psn packet.PSN, d rule.Verdict) {
	q := &c.Ends[from].SQ
	if p != nil && p.PSN == psn && p.Info().Request && c.End(p) == from {
		v.Report(c, from, p, d)
	} else if s := q.History().Get(psn); s != nil {
		v.Report(c, from, &packet.Packet{
			Time: q.Last.Time, Tap: q.Last.Tap, Frame: packet.FrameNear(q.Last.Frame, s.Frame), Opcode: s.Trace.Opcode, PSN: psn, Has: packet.HasBTH,
		}, d)
	}
}
