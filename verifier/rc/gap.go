package rc

import (
	"fmt"

	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/verifier/stream"
)

// A tap whose link goes down, or which is overrun, misses packets without saying so. The responder shows it: it acknowledges what comes after the gap without a NAK,
// and its MSN counts the messages that the capture does not hold. Of one message that is no proof: its requester may have left
// out its PSN, and the responder have taken the next one for it. Of several the capture has lost them.

// missedMessages is how many messages response p counts that the capture does not hold, as far as there is room for them in the gap before acked; 0: it
// shows none.
func missedMessages(q *qp.SendQueue, r *qp.ReceiveQueue, p *packet.Packet, acked packet.PSN) int {
	if p.Has&packet.HasAETH == 0 || p.Syndrome.Type() != packet.ACK || !r.Last.Positive || r.State != qp.Expecting || r.DuplicateRequest || !r.Last.PSN.Before(q.Gap.From) || q.DamagedAt(q.Gap.From) {
		return 0
	}
	n := packet.PSN(p.MSN).Diff(packet.PSN(r.MSN.Last))
	for i := max(q.Messages.UpTo(r.Last.PSN), 0); i < q.Messages.Len(); i++ {
		switch w := q.Messages.At(i); {
		case !w.Last.After(r.Last.PSN):
		case w.Op.Responded(), !w.First.After(acked): // a READ is counted when it is accepted
			n--
		}
	}
	if n > q.Gap.To.Diff(q.Gap.From) {
		return 0
	}
	return max(n, 0)
}

// captureGap notes that the gap in the requests of end from is one of the capture: what that end was accused of is not proven.
func (v *Verifier) captureGap(c *qp.Pair, from int) {
	c.Lose()
	v.Skipped[verifier.SkipGap]++
	gap := uint64(rule.GapAt(c.Ends[from].SQ.Gap.From))
	if i := max(v.blamed(c, from, rule.RCPSN004, gap), v.blamed(c, from, rule.RCPSN001, gap)); i >= 0 {
		v.Rec.Doubt(i, "the capture has a gap: the responder continues without a NAK, and its MSN counts the missing messages")
	}
}

// blamed returns the index of the newest finding of a rule that accuses an end of c at a gap or PSN, or -1: see rule.Recorder.About.
func (v *Verifier) blamed(c *qp.Pair, accused int, id rule.ID, at uint64) int {
	a, b := &c.Ends[accused], &c.Ends[1-accused]
	list := v.Rec.About(id, verifier.Endpoint(a), verifier.Endpoint(b), at)
	for k := len(list) - 1; k >= 0; k-- {
		if f := &v.Rec.Findings[list[k]]; verifier.IsEnd(a, &f.Accused) && verifier.IsEnd(b, &f.Peer) {
			return list[k]
		}
	}
	return -1
}

// gap reports a PSN that is d ahead of the next one, or of the start PSN (rules RC-PSN-001, -004).
func (v *Verifier) gap(c *qp.Pair, from int, p *packet.Packet, d int) {
	q := &c.Ends[from].SQ
	next := q.Next
	if q.LastLeftBefore() {
		next = q.High // the one before was late, and is no new place in the stream
		d = p.PSN.Diff(next)
	}
	id, want := rule.RCPSN004, "PSN "
	if q.Fresh {
		id, want = rule.RCPSN001, "start PSN "
	}
	v.Covered(id)
	class, detail := stream.StartClass(c, from, p, rule.Proven(c.Sees(from)), verifier.LossDetail(c, from))
	if v.Surplus(c, from, p, id, class, rule.Requester) {
		return
	}
	v.Report(c, from, p, rule.Verdict{
		Rule: id, Class: class, Role: rule.Requester, Gap: rule.GapAt(next), Before: q.Last.Frame, Wants: rule.Want(expect.PSN, uint64(next)),
		Expected: want + next.String(), Actual: fmt.Sprintf("PSN %v, %d ahead", p.PSN, d), Detail: detail,
	})
}
