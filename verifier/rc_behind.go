package verifier

import (
	"fmt"
	"time"

	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// sameFrame is how soon after a packet its copy may come that the network made.
const sameFrame = int64(10 * time.Millisecond)

// atOnce is how soon it comes where no IPv4 identification distinguishes it from a packet that was retransmitted.
const atOnce = sameFrame / 100

// uncount gives up the count of messages from psn on, where two packets took one PSN: which of them the responder took, and so where its messages end,
// is not certain.
func uncount(q *qp.SendQueue, psn packet.PSN) {
	for i := max(q.Messages.UpTo(psn), 0); i < q.Messages.Len(); i++ {
		q.Messages.At(i).Flags |= wqe.Broken
	}
}

// rcEarlier judges a request with a PSN before the next one. It follows a packet whose PSN was wrong, fills a gap, falls into the PSNs of a READ, was copied by
// the network, begins the stream, or is retransmitted.
func (v *Verifier) rcEarlier(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[from].SQ
	if v.renumber(c, from, p) {
		v.rcNew(c, from, p)
		return
	}
	if c.PMTU == 0 {
		v.rcReadEnds(c, from, p)
	}
	if p.Opcode.Fn() == packet.ReadRequest {
		v.rcAskedLate(c, from, p)
	}
	if q.Gap.Open() && !p.PSN.After(q.Gap.From) {
		v.rcOwesNak(c, from, p)
	}
	if q.Gap.Open() && p.PSN.In(q.Gap.From, q.Gap.To.Add(-1)) {
		v.rcFillsGap(c, from, p)
		return
	}
	if p.PSN.Before(q.First) {
		v.rcBeforeFirst(c, from, p)
	}
	s := q.History.Get(p.PSN)
	if w := q.Messages.Newest(); s == nil && w != nil && intoRead(q, w, p) {
		v.rcReadCount(c, from, p, w)
		return
	}
	switch {
	case s != nil && v.rcCopy(c, from, p, s):
	case q.Fresh || q.Messages.Len() == 0:
		v.rcBegins(c, from, p)
	default:
		v.rcRetransmission(c, from, p, s)
	}
}

// rcFillsGap takes a request whose PSN is in the gap that is open: the stream goes on there.
func (v *Verifier) rcFillsGap(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[from].SQ
	tail := readAfter(q, p.PSN)
	q.Rewind(p.PSN, c.PMTU)
	if p.PSN == q.Gap.From {
		q.CameLate(p)
	} else {
		q.DoubtMessage(true)
		q.Mix()
	}
	v.rcNew(c, from, p)
	if w := q.Messages.Newest(); w.Op == wqe.Read && tail.After(w.First) && !tail.After(w.Last) {
		w.Flags |= wqe.Again
		q.Reissue(w.First, tail, p.Time)
	}
}

// rcBeforeFirst judges what a request shows by itself that was sent before the capture began.
func (v *Verifier) rcBeforeFirst(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[from].SQ
	if p.Info().Payload {
		v.payload(c, from, p, nil, rule.Requester, rule.RCLEN001, rule.RCLEN002, rule.RCLEN003) // as it came before the capture it was not seen
	}
	if p.Opcode.Fn() == packet.ReadRequest && p.Has&packet.HasRETH != 0 {
		end := p.PSN.Add(wqe.Packets(min(p.DMALen, 1<<31), max(c.PMTU, leastMTU)))
		if end.After(q.Next) {
			end = q.Next
		}
		q.ReadsTo(end) // the first request of the capture may have had a wrong PSN, or this one
	}
}

// intoRead reports whether request p falls into the PSNs that w, the newest message, reserves as a READ, and that nothing else has asked for since.
func intoRead(q *qp.SendQueue, w *wqe.SendWQE, p *packet.Packet) bool {
	return w.Op == wqe.Read && (q.LastPSN == w.First || w.Has(wqe.Miscounted)) && w.Last.After(w.First) && p.PSN.In(w.First.Add(1), w.Last) && !w.Has(wqe.Again)
}

// rcCopy takes a request that the network has copied from the one that took its PSN, or from the one that it was retransmitted as. It reports whether p is such a
// copy.
func (v *Verifier) rcCopy(c *qp.Pair, from int, p *packet.Packet, s *qp.Sent) bool {
	q := &c.Ends[from].SQ
	other := q.OtherTo(p.PSN)
	if other && q.Recovery.OtherIs.Sealed() && s.Trace.Opcode == p.Opcode && !packet.SameContent(p, s.Trace) && packet.SameContent(p, q.Recovery.OtherIs) {
		q.SwapOther(s) // as it came once already: that they differ was reported
	}
	if !v.networkCopy(c, from, s.Trace, p) && !(other && v.networkCopy(c, from, q.Recovery.OtherIs, p)) {
		return false
	}
	q.Twice(p)
	if q.Gap.Open() && p.PSN == q.Gap.To && p.PSN == q.Gap.From.Add(1) {
		q.ExplainGap() // the first of the two may be what is missing, with a wrong PSN: that was reported
	}
	if w, _ := q.Messages.Find(p.PSN); w != nil && w.Op.Responded() {
		w.Flags |= wqe.Again
		q.Reissue(w.First, p.PSN, p.Time)
	}
	return true
}

// rcBegins judges a request before the start PSN, of a requester that has sent nothing else (rule RC-PSN-001).
func (v *Verifier) rcBegins(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[from].SQ
	v.covered(rule.RCPSN001)
	v.report(c, from, p, rule.Verdict{
		Rule: rule.RCPSN001, Class: rule.Proven(c.Complete()), Role: rule.Requester,
		Wants: rule.Want(expect.PSN, uint64(q.Next)), Expected: "start PSN " + q.Next.String(), Actual: "PSN " + p.PSN.String(),
	})
	c.Misplace(q.Next)
	v.rcJoin(c, from, p) // its stream begins here, or only this PSN is wrong and the next packet goes on where it should
	v.rcNew(c, from, p)
	q.Excuse()
}

// rcRetransmission judges a request that is retransmitted: where that begins and goes on, and that it is what was sent first. s is what is kept of that, or nil.
func (v *Verifier) rcRetransmission(c *qp.Pair, from int, p *packet.Packet, s *qp.Sent) {
	q := &c.Ends[from].SQ
	c.Ends[from].Sums.Retransmissions++
	v.Event(c, from, rule.Requester, p, rule.EvRetransmission, "")
	q.CameAgain(p)
	w, _ := q.Messages.Find(p.PSN)
	if v.asked = 0; w != nil {
		v.asked, w.Asked = w.Asked, 0
	} else {
		c.Ends[1-from].RQ.LoseMSN() // it went elsewhere the first time: one message more than was counted
	}
	if s != nil && !v.compared.content(p, s.Trace) && (w == nil || w.Op != wqe.Read) {
		v.rcDiffers(c, from, p, s, w)
		return
	}
	if w != nil && w.Op == wqe.Read && w.Has(wqe.Whole) && p.Opcode.Fn() != packet.ReadRequest && p.Has&p.Info().Headers == p.Info().Headers {
		v.rcReadAgain(c, from, p, w)
		return
	}
	v.rcGoesBack(c, from, p, w)
	if w != nil && w.Op.Responded() {
		v.rcIgnored(c, from, p, w)
	}
	switch {
	case w != nil && w.Op == wqe.Read:
		v.rcReadAgain(c, from, p, w)
	case s != nil:
		v.rcSame(c, from, p, s, w)
		if w != nil && w.Op.Responded() && w.Has(wqe.Answered) {
			w.Flags = w.Flags&^wqe.Answered | wqe.Told
			w.RespNext = w.First
			q.ReadBegins()
		}
	default:
		if i := q.Messages.UpTo(p.PSN); i >= 0 {
			q.AskedFrom(q.Messages.At(i).First, p.PSN) // maybe: how many PSNs that takes is not known yet
		}
	}
}

// rcDiffers judges a request that is another than the one that took its PSN, which s is what is kept of: it was retransmitted otherwise, or it is a new one under
// an old PSN.
func (v *Verifier) rcDiffers(c *qp.Pair, from int, p *packet.Packet, s *qp.Sent, w *wqe.SendWQE) {
	q := &c.Ends[from].SQ
	if !q.OtherOn(p.PSN, p.Time) {
		v.rcPSNReused(c, from, p, s, w)
	}
	if q.KeepOther(v.trace(p)); s.Trace.Opcode == p.Opcode && !rightAfter(q, p) {
		q.SwapOther(s) // one finding, not one for each time it is retransmitted
	}
	if s.Trace.Opcode == p.Opcode && q.LastPSN != p.PSN {
		q.BeginRetransmission(p.PSN.Add(1))
	} else if q.Retrying && p.PSN == q.Retry {
		q.ContinueAt(p.PSN.Add(1)) // another packet, in its place
	}
	c.Ends[1-from].RQ.LoseMSN()
	q.Break()
	if p.Opcode != s.Trace.Opcode {
		uncount(q, p.PSN)
	}
	q.Excuse() // it may have been a new request under an old PSN
	c.Misplace(q.Next)
}

// rcGoesBack judges whether a request that is retransmitted goes on with a retransmission in order, or where another begins, and notes what comes next.
func (v *Verifier) rcGoesBack(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) {
	q := &c.Ends[from].SQ
	if q.Retrying && (p.PSN == q.Retry || q.RetryLen != 0 && fits(c, q.RetryLen, p.PSN.Diff(q.LastPSN))) {
		v.covered(rule.RCRTY006)
	} else {
		v.rcRestart(c, from, p)
	}
	q.BeginRetransmission(p.PSN.Add(max(c.PSNs(p), 1)))
	switch {
	case w != nil && w.Has(wqe.Unsized):
		q.ContinueAt(w.Last.Add(1))
	case c.PSNs(p) == 0:
		q.ContinueAfterRead(p.DMALen)
	}
	if p.AckReq || p.Info().Only && wqe.OpOf(p.Opcode.Fn()).Responded() {
		q.StartTimer(p.Time)
	}
	if w != nil && p.PSN == w.Last && !w.Op.Responded() {
		if w.Flags &^= wqe.AckWanted; p.AckReq {
			w.Flags |= wqe.AckWanted
		}
	}
}

// rcReadCount judges a new request that begins within the PSNs that the READ before it reserved (rule RC-PSN-003).
func (v *Verifier) rcReadCount(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) {
	q := &c.Ends[from].SQ
	done := uint64(p.PSN.Diff(w.First)) * uint64(c.PMTU)
	same := p.PSN == w.RespNext && p.VA == w.VA && p.RKey == w.RKey // for what is missing, but from the start
	if p.Opcode.Fn() == packet.ReadRequest && (same || p.VA == w.VA+done || uint64(p.DMALen)+done == uint64(w.Length) || p.VA > w.VA && p.VA < w.VA+uint64(w.Length)) {
		w.Flags |= wqe.Again // its tail, asked for again
		v.rcEarlier(c, from, p)
		return
	}
	if w.Has(wqe.Miscounted) { // the requester goes on from there
		q.Resume(p.PSN)
		q.CloseExcuse()
		c.Ends[1-from].RQ.Expect(p.PSN)
		v.rcNew(c, from, p)
		return
	}
	v.covered(rule.RCPSN003)
	v.report(c, from, p, rule.Verdict{
		Rule: rule.RCPSN003, Class: rule.Proven(c.Complete() && !w.Has(wqe.Guessed)), Role: rule.Requester,
		Wants: rule.Want(expect.PSN, uint64(q.Next)), Expected: fmt.Sprintf("PSN %v: the READ of %d bytes takes %d PSNs", q.Next, w.Length, w.Last.Diff(w.First)+1),
		Actual: "PSN " + p.PSN.String(), Evidence: []uint64{packet.FrameNear(p.Frame, w.Frame)},
	})
	w.Flags |= wqe.Blamed
	q.Excuse()
	overlaps(q, &c.Ends[1-from].RQ, w, w.Last.Add(1))
}

// renumber recognises that the packet before p, which was ahead of its stream, was the one that p now follows: its PSN was
// wrong, which has been reported, and the stream goes on as if it had been right. A requester that goes back over a gap, and what fills it
// is lost again, looks the same; but it has waited for a NAK or its timer, and does not send another packet than before.
func (v *Verifier) renumber(c *qp.Pair, from int, p *packet.Packet) bool {
	q, r := &c.Ends[from].SQ, &c.Ends[1-from].RQ
	w := q.Messages.Newest()
	if !q.Gap.Open() || w == nil || v.Profile.keeps() && !c.Sees(from) || !v.followsAhead(c, from, p, w) {
		return false
	}
	q.History.Drop(q.LastPSN)
	if q.Gap.Filled && w.Op.Responded() && !w.Has(wqe.Answered) {
		w.Flags |= wqe.Answered
		q.ReadDone()
	}
	if w.First == q.LastPSN {
		w.First = q.Gap.From
		w.RespFirst, w.RespNext, w.Missing = w.First, w.First, w.First
	}
	w.Last = p.PSN.Add(-1)
	if !c.Sees(from) {
		w.Flags |= wqe.Guessed // the two may have changed places on their way, and what is missing between be lost
		q.Mix()
	}
	c.Misplace(q.Gap.From)
	q.Resume(p.PSN)
	q.DoubtMessage(!c.Paired || !c.Sees(from) || q.Open == wqe.None && (p.Info().Middle || p.Info().Last))
	q.CloseGap()
	if c.Sees(from) {
		r.Expect(p.PSN) // else the next response shows it
	}
	r.LoseMSN()
	q.Break()
	return true
}

// followsAhead reports whether p follows w, the newest message, as if that had the PSNs of the gap that is open before it, and is neither retransmitted nor
// something that the tap has missed before.
func (v *Verifier) followsAhead(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) bool {
	q, r := &c.Ends[from].SQ, &c.Ends[1-from].RQ
	if q.LastPSN != q.Gap.To || w.Op == wqe.Read && w.First != q.LastPSN {
		return false
	}
	if i := q.Messages.Len() - 2; i >= 0 && w.First == q.LastPSN && (!q.Messages.At(i).Last.Before(q.Gap.From) || q.Messages.At(i).Has(wqe.Unsized)) {
		return false // another one has come since the gap, or where that begins is not known
	}
	n := 1
	if w.Op == wqe.Read {
		n = w.Last.Diff(w.First) + 1
	}
	if p.PSN != q.Gap.From.Add(n) {
		return false
	}
	s := q.History.Get(p.PSN)
	same := s != nil && packet.SameContent(p, s.Trace) // it is retransmitted
	mismatch := s != nil && p.PSN == q.Gap.To && !same || w.Op == wqe.Read && n > 1 && !tail(w, p)
	switch {
	case q.Gap.Filled && r.State == qp.Expecting:
	case same, !c.Sees(from) && leftBefore(p, q.LastID):
		return false
	case c.Reliable() && !c.Sees(from) && (r.State != qp.Expecting || !mismatch && p.Time-q.LastTime > int64(inFlight)):
		return false
	}
	return true
}
