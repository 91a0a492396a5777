package rc

import (
	"fmt"

	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier/stream"
	"ibwitness/wqe"
)

// loseCount gives up the count of messages from psn on, where two packets took one PSN: which of them the responder took, and so where its messages end,
// is not certain.
func loseCount(q *qp.SendQueue, psn packet.PSN) {
	for i := max(q.Messages.UpTo(psn), 0); i < q.Messages.Len(); i++ {
		q.Messages.At(i).Flags |= wqe.Broken
	}
}

// beforeNext judges a request with a PSN before the next one. It follows a packet whose PSN was wrong, fills a gap, falls into the PSNs of a READ, was copied by
// the network, begins the stream, or is retransmitted.
func (v *Verifier) beforeNext(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[from].SQ
	if v.Renumber(c, from, p) {
		v.newRequest(c, from, p)
		return
	}
	if c.PMTU == 0 {
		v.readEnds(c, from, p)
	}
	if p.Opcode.Fn() == packet.ReadRequest {
		v.readRetransmittedLate(c, from, p)
	}
	if q.Gap.Open() {
		if !p.PSN.After(q.Gap.From) {
			v.owesNak(c, from, p)
		}
		if p.PSN.In(q.Gap.From, q.Gap.To.Add(-1)) {
			v.fillsGap(c, from, p)
			return
		}
	}
	if p.PSN.Before(q.First) {
		v.beforeFirst(c, from, p)
	}
	s := q.History().Get(p.PSN)
	if w := q.Messages.Newest(); s == nil && w != nil && intoRead(q, w, p) {
		v.readCount(c, from, p, w)
		return
	}
	switch {
	case s != nil && v.networkCopy(c, from, p, s):
	case q.Fresh || q.Messages.Len() == 0:
		v.beforeStart(c, from, p)
	case s == nil && v.secondOnly(c, from, p):
		v.takeSecond(c, from, p)
	default:
		v.retransmission(c, from, p, s)
	}
}

// fillsGap takes a request whose PSN is in the gap that is open: the stream goes on there.
func (v *Verifier) fillsGap(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[from].SQ
	tail := readAfter(q, p.PSN)
	q.Rewind(p.PSN, c.PMTU)
	begins := p.PSN == q.Gap.From
	if begins {
		q.NoteLate(p)
	} else {
		q.Sequence.SetUnsure(true)
		q.Reorder()
	}
	v.newRequest(c, from, p)
	if w := q.Messages.Newest(); w.Op == wqe.Read && tail.After(w.First) && !tail.After(w.Last) {
		w.Flags |= wqe.Reissued
		q.Reissue(w.First, tail, p.Time)
	}
}

// beforeFirst judges what a request shows by itself that was sent before the capture began.
func (v *Verifier) beforeFirst(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[from].SQ
	if p.Info().Payload {
		v.Payload(c, from, p, nil, rule.Requester, rule.RCLEN001, rule.RCLEN002, rule.RCLEN003) // as it came before the capture it was not seen
	}
	if p.Opcode.Fn() == packet.ReadRequest && p.Has&packet.HasRETH != 0 {
		end := p.PSN.Add(wqe.Packets(min(p.DMALen, 1<<31), max(c.PMTU, stream.LeastMTU)))
		if end.After(q.Next) {
			end = q.Next
		}
		q.ExtendRead(end) // the first request of the capture may have had a wrong PSN, or this one
	}
}

// intoRead reports whether request p falls into the PSNs that w, the newest message, reserves as a READ, and that nothing else has asked for since.
func intoRead(q *qp.SendQueue, w *wqe.SendWQE, p *packet.Packet) bool {
	return w.Op == wqe.Read && (q.Last.PSN == w.First || w.Has(wqe.Miscounted)) && w.Last.After(w.First) && p.PSN.In(w.First.Add(1), w.Last) && !w.Has(wqe.Reissued)
}

// networkCopy takes a request that the network has copied from the one that took its PSN, or from the one that it was retransmitted as. It reports whether p is such a
// copy.
func (v *Verifier) networkCopy(c *qp.Pair, from int, p *packet.Packet, s *qp.Sent) bool {
	q := &c.Ends[from].SQ
	other := q.IsNewestAltered(p.PSN)
	if other && q.Recovery.Altered.Trace.Sealed() && s.Trace.Opcode == p.Opcode && !packet.SameContent(p, s.Trace) && packet.SameContent(p, q.Recovery.Altered.Trace) {
		q.SwapAltered(s) // as it came once already: that they differ was reported
	}
	if !v.NetworkCopy(c, from, s.Trace, p) && !(other && v.NetworkCopy(c, from, q.Recovery.Altered.Trace, p)) {
		return false
	}
	q.NoteNetworkCopy(p)
	if q.Gap.Open() && p.PSN == q.Gap.To && p.PSN == q.Gap.From.Add(1) {
		q.ExplainGap() // the first of the two may be what is missing, with a wrong PSN: that was reported
	}
	if w, _ := q.Messages.Find(p.PSN); w != nil && w.Op.Responded() {
		w.Flags |= wqe.Reissued
		q.ReissueCopied(w.First, p.PSN, p.Time)
	}
	return true
}

// beforeStart judges a request before the start PSN, of a requester that has sent nothing else (rule RC-PSN-001).
func (v *Verifier) beforeStart(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[from].SQ
	v.Covered(rule.RCPSN001)
	class, detail := stream.StartClass(c, from, p, rule.Proven(c.Complete()), "")
	v.Report(c, from, p, rule.Verdict{
		Rule: rule.RCPSN001, Class: class, Role: rule.Requester,
		Wants: rule.Want(expect.PSN, uint64(q.Next)), Expected: "start PSN " + q.Next.String(), Actual: "PSN " + p.PSN.String(), Detail: detail,
	})
	c.Misplace(q.Next)
	v.Join(c, from, p) // its stream begins here, or only this PSN is wrong and the next packet goes on where it should
	v.newRequest(c, from, p)
	q.ExplainNextGap()
}

// retransmission judges a request that is retransmitted: where that begins and goes on, and that it is what was sent first. s is what is kept of that, or nil.
func (v *Verifier) retransmission(c *qp.Pair, from int, p *packet.Packet, s *qp.Sent) {
	q := &c.Ends[from].SQ
	q.EndSpray()
	c.Ends[from].CountRetransmission()
	v.Event(c, from, rule.Requester, p, rule.EvRetransmission, "")
	q.NoteRetransmitted(p)
	q.CameAgain(p.PSN)
	if p.Opcode.Fn() == packet.ReadRequest {
		q.AskedAgain(p.PSN)
	}
	w, _ := q.Messages.Find(p.PSN)
	if v.waitingSince = 0; w != nil {
		v.waitingSince, w.Asked = w.Asked, 0
	} else {
		c.RQ(1 - from).MSN.Lose() // it went elsewhere the first time: one message more than was counted
	}
	if s != nil && !v.compared.content(p, s.Trace) && (w == nil || w.Op != wqe.Read) {
		v.differentRequest(c, from, p, s, w)
		return
	}
	if w != nil && replacesRead(w, p) {
		v.duplicateRead(c, from, p, w)
		return
	}
	v.retransmissionPlace(c, from, p, w)
	v.retransmissionContent(c, from, p, s, w)
}

// retransmissionContent judges that a request is retransmitted as it was. s is what is kept of what was sent first, w its message; nil: that is not known.
func (v *Verifier) retransmissionContent(c *qp.Pair, from int, p *packet.Packet, s *qp.Sent, w *wqe.SendWQE) {
	q := &c.Ends[from].SQ
	responded := w != nil && w.Op.Responded()
	if responded {
		v.duplicateRequest(c, from, p, w)
	}
	switch {
	case responded && w.Op == wqe.Read:
		v.duplicateRead(c, from, p, w)
	case s != nil:
		v.identicalRetransmission(c, from, p, s, w)
		if responded && w.Has(wqe.Answered) {
			awaitResponse(q, w)
		}
	default:
		if i := q.Messages.UpTo(p.PSN); i >= 0 {
			q.KeepReissue(q.Messages.At(i).First, p.PSN) // maybe: how many PSNs that takes is not known yet
		}
	}
}

// replacesRead reports whether p has another opcode than READ w, whose PSN it takes.
func replacesRead(w *wqe.SendWQE, p *packet.Packet) bool {
	return w.Op == wqe.Read && w.Has(wqe.Whole) && p.Opcode.Fn() != packet.ReadRequest && p.Has&p.Info().Headers == p.Info().Headers
}

// awaitResponse has message w, which was answered, wait for a response again.
func awaitResponse(q *qp.SendQueue, w *wqe.SendWQE) {
	w.Flags = w.Flags&^wqe.Answered | wqe.Told
	q.AnswerFrom(w, q.RespFirst(w), w.First, q.Missing(w))
	q.ReadBegins()
}

// differentRequest judges a request that is another than the one that took its PSN, which s is what is kept of: it was retransmitted otherwise, or it is a new one under
// an old PSN.
func (v *Verifier) differentRequest(c *qp.Pair, from int, p *packet.Packet, s *qp.Sent, w *wqe.SendWQE) {
	q := &c.Ends[from].SQ
	if !q.ExtendAltered(p.PSN, p.Time) {
		v.psnReused(c, from, p, s, w)
	}
	if q.KeepAltered(v.Trace(p)); s.Trace.Opcode == p.Opcode && !rightAfter(q, p) {
		q.SwapAltered(s) // one finding, not one for each time it is retransmitted
	}
	if s.Trace.Opcode == p.Opcode && q.Last.PSN != p.PSN {
		q.BeginRetransmission(p.PSN.Add(1))
	} else if q.Retransmission.Active && p.PSN == q.Retransmission.Next {
		q.ContinueRetransmission(p.PSN.Add(1)) // another packet, in its place
	}
	c.RQ(1 - from).MSN.Lose()
	q.Break()
	if p.Opcode != s.Trace.Opcode {
		loseCount(q, p.PSN)
	}
	q.ExplainNextGap() // it may have been a new request under an old PSN
	c.Misplace(q.Next)
}

// retransmissionPlace judges whether a request that is retransmitted goes on with a retransmission in order, or where another begins, and notes what comes next.
func (v *Verifier) retransmissionPlace(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) {
	q := &c.Ends[from].SQ
	if q.Retransmission.Active && (p.PSN == q.Retransmission.Next || q.Retransmission.ReadLen != 0 && someMTUFits(c, q.Retransmission.ReadLen, p.PSN.Diff(q.Last.PSN))) {
		v.Covered(rule.RCRTY006)
		v.goesOn(c, from, p)
	} else {
		v.goesAgain(c, from, p, w)
		v.sentAgain(c, from, p, w, v.waitingSince, true)
		v.retransmissionBegins(c, from, p)
	}
	q.BeginRetransmission(p.PSN.Add(max(c.PSNs(p), 1)))
	switch {
	case w != nil && w.Has(wqe.Unsized):
		q.ContinueRetransmission(w.Last.Add(1))
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

// readCount judges a new request that begins within the PSNs that the READ before it reserved (rule RC-PSN-003).
func (v *Verifier) readCount(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) {
	q := &c.Ends[from].SQ
	done := uint64(p.PSN.Diff(w.First)) * uint64(c.PMTU)
	same := p.PSN == w.RespNext() && p.VA == w.VA && p.RKey == w.RKey // for what is missing, but from the start
	if p.Opcode.Fn() == packet.ReadRequest && (same || p.VA == w.VA+done || uint64(p.DMALen)+done == uint64(w.Length) || p.VA > w.VA && p.VA < w.VA+uint64(w.Length)) {
		w.Flags |= wqe.Reissued // its tail, retransmitted
		v.beforeNext(c, from, p)
		return
	}
	if w.Has(wqe.Miscounted) { // the requester goes on from there
		q.Resume(p.PSN)
		q.CloseExplanation()
		c.RQ(1 - from).Expect(p.PSN)
		v.newRequest(c, from, p)
		return
	}
	v.Covered(rule.RCPSN003)
	v.Report(c, from, p, rule.Verdict{
		Rule: rule.RCPSN003, Class: rule.Proven(c.Complete() && !w.Has(wqe.Guessed)), Role: rule.Requester,
		Wants: rule.Want(expect.PSN, uint64(q.Next)), Expected: fmt.Sprintf("PSN %v: the READ of %d bytes takes %d PSNs", q.Next, w.Length, w.Last.Diff(w.First)+1),
		Actual: "PSN " + p.PSN.String(), Evidence: []uint64{packet.FrameNear(p.Frame, w.Frame)},
	})
	w.Flags |= wqe.Blamed
	q.ExplainNextGap()
	readOverlap(q, c.RQ(1-from), w, w.Last.Add(1))
}
