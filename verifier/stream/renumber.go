package stream

import (
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/verifier"
	"ibwitness/wqe"
)

// Renumber recognises that the packet before p, which was ahead of its stream, was the one that p now follows: its PSN was
// wrong, which has been reported, and the stream goes on as if it had been right. A requester that goes back over a gap, and what fills it
// is lost again, looks the same; but it has waited for a NAK or its timer, and does not send another packet than before.
func (v *Verifier) Renumber(c *qp.Pair, from int, p *packet.Packet) bool {
	q, r := &c.Ends[from].SQ, c.RQ(1-from)
	w := q.Messages.Newest()
	if !q.Gap.Open() || w == nil || v.Profile.Keeps() && !c.Sees(from) || !v.followsAhead(c, from, p, w) {
		return false
	}
	q.History().Drop(q.Last.PSN)
	moveToGap(q, w, p)
	if !c.Sees(from) {
		w.Flags |= wqe.Guessed // the two may have changed places on their way, and what is missing between be lost
		q.Reorder()
	}
	c.Misplace(q.Gap.From)
	q.Resume(p.PSN)
	q.Sequence.SetUnsure(!c.Paired || !c.Sees(from) || q.Open == wqe.None && (p.Info().Middle || p.Info().Last))
	q.CloseGap()
	if c.Sees(from) {
		r.Expect(p.PSN) // else the next response shows it
	}
	r.MSN.Lose()
	q.Break()
	return true
}

// moveToGap gives message w, which was ahead of its stream, the PSNs of the gap before p.
func moveToGap(q *qp.SendQueue, w *wqe.SendWQE, p *packet.Packet) {
	if q.Gap.Filled && w.Op.Responded() && !w.Has(wqe.Answered) {
		w.Flags |= wqe.Answered
		q.ReadDone()
	}
	if w.First == q.Last.PSN {
		q.BeginAt(w, q.Gap.From)
	}
	q.EndAt(w, p.PSN.Add(-1))
}

// followsAhead reports whether p follows w, the newest message, as if that had the PSNs of the gap that is open before it, and is neither retransmitted nor
// something that the tap has missed before.
func (v *Verifier) followsAhead(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) bool {
	q, r := &c.Ends[from].SQ, c.RQ(1-from)
	if !onlyAhead(q, w) {
		return false
	}
	n := 1
	if w.Op == wqe.Read {
		n = w.Last.Diff(w.First) + 1
	}
	if p.PSN != q.Gap.From.Add(n) {
		return false
	}
	return q.Gap.Filled && r.State == qp.Expecting || v.isNew(c, from, p, w, n)
}

// onlyAhead reports whether w, the newest message, is all that has come since the gap before it: the one packet of it, or its newest one.
func onlyAhead(q *qp.SendQueue, w *wqe.SendWQE) bool {
	if q.Last.PSN != q.Gap.To || w.Op == wqe.Read && w.First != q.Last.PSN {
		return false
	}
	i := q.Messages.Len() - 2
	if i < 0 || w.First != q.Last.PSN {
		return true
	}
	before := q.Messages.At(i)
	return before.Last.Before(q.Gap.From) && !before.Has(wqe.Unsized) // else another one has come since the gap, or where that begins is not known
}

// isNew reports whether p, which follows message w of n PSNs, is neither retransmitted nor something that left its sender before w.
func (v *Verifier) isNew(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE, n int) bool {
	q, r := &c.Ends[from].SQ, c.RQ(1-from)
	s := q.History().Get(p.PSN)
	same := s != nil && packet.SameContent(p, s.Trace) // it is retransmitted
	mismatch := s != nil && p.PSN == q.Gap.To && !same || w.Op == wqe.Read && n > 1 && !AsksForTail(w, p)
	switch {
	case same, !c.Sees(from) && verifier.LeftBefore(p, q.Last.ID):
		return false
	case c.Reliable() && !c.Sees(from) && (r.State != qp.Expecting || !mismatch && p.Time-q.Last.Time > int64(verifier.InFlight)):
		return false
	}
	return true
}

// AsksForTail reports whether p asks for the rest of READ w.
func AsksForTail(w *wqe.SendWQE, p *packet.Packet) bool {
	return p.Opcode.Fn() == packet.ReadRequest && p.VA > w.VA && p.VA-w.VA < uint64(w.Length) && uint64(p.DMALen)+p.VA-w.VA == uint64(w.Length)
}

// AnswersOldest notes that a response with the opcode or the PSN of another request, which is reported, is taken for that of the oldest READ or atomic that
// waits for its own: that later responses overtake this one is the same fault. proven says that the report is.
func AnswersOldest(q *qp.SendQueue, p *packet.Packet, proven bool) {
	for i := range q.Messages.Len() {
		w := q.Messages.At(i)
		if w.First.After(p.PSN) {
			return
		}
		if w.Op.Responded() && !w.Has(wqe.Answered) && !w.Last.Before(q.Una) {
			if w.Flags |= wqe.Accused; proven && w.Op == wqe.Read && answersRead(p) {
				w.Flags |= wqe.Blamed // so that this one is missing from its answer
			}
			return
		}
	}
}

// answersRead reports whether p is a READ response.
func answersRead(p *packet.Packet) bool {
	fn := p.Opcode.Fn()
	return fn >= packet.ReadRespFirst && fn <= packet.ReadRespOnly
}
