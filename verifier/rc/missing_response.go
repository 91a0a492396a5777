package rc

import (
	"time"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/wqe"
)

// silence is how long a capture must go on after a request before its end proves anything.
const silence = int64(time.Second)

// responseMissing notes, when a requester runs into its timer, the request that the responder has left unanswered. Whether it is alive, or
// its QP is gone and silence is right, shows only when it speaks again.
func (v *Verifier) responseMissing(c *qp.Pair, from int, p *packet.Packet) {
	q, r := &c.Ends[from].SQ, c.RQ(1-from)
	if r.Pending != nil || !r.Last.Positive || q.ReportedUnanswered() || p.PSN.Before(q.Una) || p.Time-q.TimerStart < int64(verifier.InFlight) {
		return
	}
	if l := q.Recovery; l != nil && l.TakenBack.Set {
		return // the NAK with a wrong PSN, which is reported, was the answer
	}
	s := unansweredAsk(q)
	if s == nil {
		return
	}
	if s.Trace.Flags&packet.TraceSealed == 0 && c.Sealed(from) {
		return // something was wrong with it, and the responder is right to drop it
	}
	asked := s.PSN & packet.PSNMask
	if q.Last.PSN.Before(asked) {
		return // the last time round it did not come, and what came before may have been thrown away after a NAK
	}
	if first := q.History().Get(p.PSN); first != nil && !packet.SameContent(p, first.Trace) {
		return // another request under an old PSN
	}
	r.AwaitResponse(qp.PendingResponse{Request: *v.firstSent(q, p, s), Waited: p.Time - q.TimerStart, RetransmittedAt: p.Time, NextPSN: q.High})
}

// firstSent is what retransmission p brings once more, as it was first sent: s is what is kept of it, with its frame, and its time where that is known; else when the requester began to wait.
func (v *Verifier) firstSent(q *qp.SendQueue, p *packet.Packet, s *qp.Sent) *packet.Packet {
	b := p.Bare()
	b.PSN, b.Opcode, b.Frame = s.PSN&packet.PSNMask, s.Trace.Opcode, packet.FrameNear(p.Frame, s.Frame)
	w, _ := q.Messages.Find(b.PSN)
	since := uint32(0)
	if w != nil {
		if since = w.Asked; since == 0 && p.PSN.In(w.First, w.Last) {
			since = v.waitingSince
		}
	}
	switch at := p.Time - int64(verifier.Stamp(p.Time)-since)*verifier.Tick; {
	case b.Frame == q.Last.Frame:
		b.Time = q.Last.Time
	case q.AfterGap(b.Frame) != 0:
		b.Time = q.AfterGap(b.Frame)
	case since == 0, verifier.Stamp(q.TimerStart) == since: // a stamp tells less
		b.Time = q.TimerStart
	default:
		b.Time = at
	}
	return b
}

// unansweredAsk is what is kept of the packet with which the oldest message that is not acknowledged has asked for a response, or nil: it has not.
func unansweredAsk(q *qp.SendQueue) *qp.Sent {
	w, _ := q.Messages.Find(q.Una)
	if w == nil || !w.Has(wqe.AckWanted) || w.Has(wqe.Answered) {
		return nil
	}
	s := q.History().Get(w.Last)
	if w.Op == wqe.Read {
		s = q.History().Get(w.First)
	}
	if s == nil || s.Trace.Flags&packet.TraceAckReq == 0 {
		return nil
	}
	return s
}

// owesNak notes, when a requester goes back to a gap on its own account, that the responder has not asked for what is missing, though a later
// packet had arrived and it had time to. Where it has completed no message since its first response, in a capture that does not show how the connection
// began, the later packet may have come before the capture too, and have been NAKed there.
func (v *Verifier) owesNak(c *qp.Pair, from int, p *packet.Packet) {
	q, r := &c.Ends[from].SQ, c.RQ(1-from)
	s := v.sequenceNakOwed(c, from)
	if s == nil || p.Time-max(q.Last.Time, r.Last.Time) < stalled {
		return
	}
	v.Covered(rule.RCRSP002)
	r.AwaitResponse(qp.PendingResponse{Request: *v.firstSent(q, p, s), NAK: true, Missing: q.Gap.From})
}

// sequenceNakOwed is what is kept of the packet of end from that has come after a gap, which its responder owes a NAK; nil: it may owe none.
func (v *Verifier) sequenceNakOwed(c *qp.Pair, from int) *qp.Sent {
	q, r := &c.Ends[from].SQ, c.RQ(1-from)
	if v.Profile.AdaptiveRouting || !c.Paired || !c.Sees(1-from) || q.Gap.Explained || q.Damaged() || !owesNothing(c, r) || q.Last.PSN.Before(q.Gap.To) {
		return nil
	}
	if start, known := c.Ends[from].Attr.Start(); firstCount(q, r) && (!known || q.First != start) {
		return nil
	}
	s := q.History().Get(q.Gap.To)
	if s != nil && s.Trace.Flags&packet.TraceSealed == 0 && c.Sealed(from) {
		return nil
	}
	return s
}

// owesNothing reports whether a responder that counts messages expects requests, and no response of it is due or waits for its request.
func owesNothing(c *qp.Pair, r *qp.ReceiveQueue) bool {
	return r.MSN.StartKnown && r.Pending == nil && r.State == qp.Expecting && len(c.Early()) == 0
}

// pendingAnswered takes a response of a responder that had left something unsaid until its requester's timer ran out (rules RC-RSP-002, -005).
func (v *Verifier) pendingAnswered(c *qp.Pair, from int, p *packet.Packet) {
	r := c.RQ(from)
	pending := r.Pending
	positive := p.Syndrome.Type() == packet.ACK
	switch {
	case pending.NAK && positive && p.PSN.Before(pending.Missing):
	case pending.AnsweredAt != 0:
		v.answeredTwice(c, from, p, positive)
	case pending.NAK && positive:
		r.ClosePending()
		if i := v.blamed(c, from, rule.RCRSP002, uint64(pending.Request.PSN)); i >= 0 {
			v.Rec.Remove(i) // that of its silence, which this proves
		}
		v.Accuse(c, from, &pending.Request, rule.Verdict{
			Rule: rule.RCRSP002, Class: rule.Violation, Role: rule.Responder,
			Expected: "a PSN sequence NAK for PSN " + pending.Missing.String() + ": a later PSN had arrived", Actual: "no NAK until the retransmission on timeout",
			Evidence: []uint64{p.Frame},
		})
	case !positive, p.PSN.Before(pending.Request.PSN), !p.PSN.Before(retransmitted(&c.Ends[1-from].SQ, pending)):
		r.ClosePending() // it had not got that far, or answers all up to a later request
	case pending.Requests == 0:
		r.ClosePending() // the requester has not got as far again: it answers what was sent first
	default:
		v.Covered(rule.RCRSP005)
		pending.NoteAnswer(p)
	}
}

// retransmitted is the PSN after all that was outstanding when a request was retransmitted. How long a READ is may have been learned since.
func retransmitted(q *qp.SendQueue, pending *qp.PendingResponse) packet.PSN {
	if w, _ := q.Messages.Find(pending.NextPSN.Add(-1)); w != nil {
		return packet.Later(pending.NextPSN, w.Last.Add(1))
	}
	return pending.NextPSN
}

// answeredTwice takes a response of a responder that has answered a request which came twice. It has been slow if it answers more than was
// retransmitted; if it goes on to a request after that, the first had no answer.
func (v *Verifier) answeredTwice(c *qp.Pair, from int, p *packet.Packet, positive bool) {
	r := c.RQ(from)
	pending, in := r.Pending, p.Info()
	switch {
	case verifier.Numbered(p) && v.copiedResponse(r, p), p.PSN.Before(pending.Request.PSN):
	case !p.PSN.Before(retransmitted(&c.Ends[1-from].SQ, pending)):
		v.unanswered(c, from, true)
	case !positive:
		r.ClosePending()
	case in.First, in.Only:
		if pending.CountAnswer() {
			r.ClosePending()
		}
	}
}

// promptly is by how much sooner than the request was answered at all its retransmission must have been, to be what was answered: one response may
// answer both where the responder was slow.
const promptly = 8

// unanswered reports that a responder has left a request without a response: one has come since it was retransmitted, and as the capture went on long
// enough then, no other (rule RC-RSP-005).
func (v *Verifier) unanswered(c *qp.Pair, from int, ended bool) {
	r := c.RQ(from)
	pending := r.Pending
	r.ClosePending()
	if q := &c.Ends[from].SQ; q.DamagedFrom(pending.Request.PSN) && q.DamagedBetween(pending.RetransmittedAt-pending.Waited, pending.RetransmittedAt) {
		return // it has sent one, which came damaged
	}
	d := rule.Verdict{
		Rule: rule.RCRSP005, Class: rule.Proven(c.Sees(from)), Role: rule.Responder,
		Expected: "a response: AckReq is set", Actual: "no response until the retransmission", Evidence: []uint64{pending.AnsweredBy},
	}
	switch {
	case d.Class == rule.Unproven && c.Ends[1-from].SQ.AnswersLate():
		return // it was late before, so that one response may be for both
	case d.Class == rule.Unproven:
		d.Detail = "the response may have been lost before the tap, or the request after the tap"
	case (pending.AnsweredAt-pending.RetransmittedAt)*promptly > pending.Waited:
		d.Class, d.Detail = rule.Unproven, "the responder may have been slow, and may have acknowledged both with one response"
	case !ended:
		d.Class, d.Detail = rule.Unproven, "the capture ends before the responder can have responded again"
	}
	v.Accuse(c, from, &pending.Request, d)
}

// missingAckReq judges a requester that has fallen silent with SENDs or WRITEs outstanding that asked for no response (rule RC-ACK-002),
// and counts requests that were never answered.
func (v *Verifier) missingAckReq(c *qp.Pair, from int, end int64) {
	q, r := &c.Ends[from].SQ, c.RQ(1-from)
	w := q.Messages.Newest()
	if c.Paired && w != nil && w.Has(wqe.Ended) && !w.Op.Responded() {
		v.Covered(rule.RCACK002)
	}
	if !c.Paired || c.Closed || r.State != qp.Expecting || w == nil || !q.Una.Before(q.Next) || end-q.Last.Time < silence || w.Op.Responded() {
		return
	}
	s := q.History().Get(w.Last)
	if s == nil || !w.Has(wqe.Ended) {
		return
	}
	p := packet.Packet{
		Time: q.Last.Time, Tap: q.Last.Tap, Frame: packet.FrameNear(q.Last.Frame, s.Frame), Opcode: s.Trace.Opcode, PSN: w.Last, Has: packet.HasBTH,
	}
	if s.Trace.Flags&packet.TraceAckReq != 0 {
		v.Event(c, from, rule.Requester, &p, rule.EvUnanswered, "")
		return
	}
	v.Report(c, from, &p, rule.Verdict{
		Rule: rule.RCACK002, Class: rule.Proven(c.Sees(from)), Role: rule.Requester,
		Expected: "AckReq in the last packet before a pause", Actual: "AckReq 0, and no packet for " + time.Duration(end-q.Last.Time).String(),
		Detail: verifier.LossDetail(c, from),
	})
}
