package rc

import (
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// onlyAfterGap reports whether the first packet of w, the newest message, is all that came after the gap.
func onlyAfterGap(q *qp.SendQueue, w *wqe.SendWQE) bool {
	return w.First == q.Gap.To && q.Last.PSN == q.Gap.To
}

// gapResponse takes a response to a READ or atomic that may have been answered at the PSN that it should have had: it was ahead of its stream, nothing
// came after it yet, and the responses are those of the gap before it. Whether it had the wrong PSN, or another one was lost there, shows
// with the next request. It reports whether p is such a response.
func (v *Verifier) gapResponse(c *qp.Pair, from int, p *packet.Packet) bool {
	q := &c.Ends[1-from].SQ
	w := q.Messages.Newest()
	if !q.Gap.Open() || w == nil || !w.Op.Responded() || w.Has(wqe.Unsized) || !onlyAfterGap(q, w) {
		return false
	}
	last := q.Gap.From.Add(w.Last.Diff(w.First))
	if !p.PSN.In(q.Gap.From, last) {
		return false
	}
	switch {
	case w.Op.Atomic() != (p.Opcode.Fn() == packet.AtomicAck):
		return false
	case w.Op.Atomic() && p.PSN == q.Gap.From:
	case w.Op == wqe.Read && p.Opcode == readOpcode(p, q.Gap.From, last) && (p.PSN == q.Gap.From || q.Gap.Filled):
	default:
		q.SetGapFilled(q.Gap.Filled && w.First != p.PSN)
		return false
	}
	q.SetGapFilled(true)
	return true
}

// readAfter is the PSN of the request after psn where that is a READ: it may ask for the tail of one at psn; else psn.
func readAfter(q *qp.SendQueue, psn packet.PSN) packet.PSN {
	if i := q.Messages.UpTo(psn) + 1; i < q.Messages.Len() && q.Messages.At(i).Op == wqe.Read {
		return q.Messages.At(i).First
	}
	return psn
}
