package rc

import (
	"fmt"

	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/verifier/stream"
	"ibwitness/wqe"
)

// acknowledge judges a positive Acknowledge.
func (v *Verifier) acknowledge(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[1-from].SQ
	v.Covered(rule.RCRSP006)
	v.requesterTakes(c, from, p, p.PSN, false)
	if p.PSN.Before(q.Una) {
		v.duplicateFlush(c, from, p)
		v.oldAck(c, from, p)
		return
	}
	v.beyondGap(c, from, p, p.PSN)
	if q.RdOut > 0 {
		v.judgeOvertaking(c, from, p)
	}
	v.msn(c, from, p, 0)
	q.Acknowledged(p.PSN, c.RQ(from).DuplicateRequest && !v.copiedResponse(c.RQ(from), p))
	v.progress(c, from, p, p.PSN.Add(1))
}

// answeredBeforeCapture is how many packets a responder has sent after its newest response to what came before the capture, when it has answered all of that.
const answeredBeforeCapture = 8

// answersBeforeCapture reports whether the responder to end from may still be answering what came before the capture.
func answersBeforeCapture(c *qp.Pair, from int) bool {
	n := c.Ends[from].SQ.AnsweredBeforeCapture()
	return n != 0 && c.Ends[1-from].Packets() < n+answeredBeforeCapture
}

// noteBeforeCapture notes that response p answers what came before the capture, if its PSN says so: the responder has not answered all of that, and the
// requester drops what answers later READs and atomics.
func (v *Verifier) noteBeforeCapture(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[1-from].SQ
	if _, known := c.Ends[1-from].Attr.Start(); known || !p.PSN.Before(q.First) {
		return
	}
	q.AnswerBeforeCapture(c.Ends[from].Packets())
	if c.Sees(1-from) && p.Opcode.Fn() != packet.Acknowledge && !q.LacksResponse {
		q.LackResponse(q.First, p.Time)
	}
}

// oldAck judges an Acknowledge of what was acknowledged before: legal as an answer to a duplicate, as an unsolicited ACK that
// repeats the newest, or as a copy that the network made (rules RC-RSP-006, RC-RSP-029, RC-RSP-042).
func (v *Verifier) oldAck(c *qp.Pair, from int, p *packet.Packet) {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	v.Event(c, from, rule.Responder, p, rule.EvDuplicateResponse, "")
	if r.DuplicateRequest && !v.copiedResponse(r, p) {
		q.CopyAnswered()
		q.AnsweredAgain(p.PSN)
	}
	if p.PSN.Before(q.First) && v.ackBeforeFirst(c, from, p) {
		return
	}
	switch {
	case p.PSN == r.Last.PSN:
		if r.DuplicateRequest {
			v.Covered(rule.RCRSP029)
		}
		v.unsolicited(c, from, p)
	case v.copiedResponse(r, p), !r.Last.Positive:
	case r.DuplicateRequest:
		v.duplicateAck(c, from, p)
	case q.Jump == nil: // else to its responder the request with another PSN may be a duplicate
		v.ackGoesBack(c, from, p)
	}
}

// ackBeforeFirst judges an Acknowledge of what comes before the first request of the capture: it answers a duplicate from before that, or is before the start PSN
// (rule RC-RSP-006). It reports whether it is either.
func (v *Verifier) ackBeforeFirst(c *qp.Pair, from int, p *packet.Packet) bool {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	start, known := c.Ends[1-from].Attr.Start()
	if !known && (!c.Sees(from) || !r.Last.Positive || r.DuplicateRequest || answersBeforeCapture(c, 1-from)) {
		v.noteBeforeCapture(c, from, p)
		return true // it answers a duplicate from before the capture
	}
	if known && !r.DuplicateRequest && q.Jump == nil && p.PSN.Before(start) && p.PSN.After(start.Add(-stream.FarJump)) {
		v.Report(c, from, p, rule.Verdict{
			Rule: rule.RCRSP006, Class: rule.Proven(c.Complete()), Role: rule.Responder,
			Expected: "PSN " + start.String() + " or later: the connection begins there", Actual: "PSN " + p.PSN.String(),
		})
		return true
	}
	return false
}

// ackGoesBack reports an Acknowledge with a PSN before that of the newest response, as no duplicate has come (rule RC-RSP-006).
func (v *Verifier) ackGoesBack(c *qp.Pair, from int, p *packet.Packet) {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	r.ClosePending() // it may be what it owes, with a wrong PSN
	if outOfOrder(c, from, p) {
		return
	}
	d := rule.Verdict{
		Rule: rule.RCRSP006, Class: rule.Proven(c.Sees(from)), Role: rule.Responder,
		Expected: "PSN " + r.Last.PSN.String() + " or later: responses go in PSN order", Actual: "PSN " + p.PSN.String(),
		Evidence: []uint64{packet.FrameNear(p.Frame, r.Last.Frame)},
	}
	if p.PSN.After(r.Last.PSN) {
		d.Expected = "no ACK of what the NAK for PSN " + q.Una.String() + " has acknowledged, as no duplicate has come"
	}
	v.Report(c, from, p, d)
}

// duplicateAck judges the Acknowledge of a duplicate SEND or WRITE: its PSN is that of the newest request executed, or of the one
// before a READ or atomic that comes next (rule RC-RSP-029).
func (v *Verifier) duplicateAck(c *qp.Pair, from int, p *packet.Packet) {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	v.Covered(rule.RCRSP029)
	i := q.Messages.UpTo(p.PSN)
	if q.IsAltered(p.PSN) || !p.PSN.Before(r.Last.PSN) || i < 0 || q.Messages.At(i).Op.Responded() {
		return
	}
	if i+1 < q.Messages.Len() && (q.Messages.At(i+1).Op.Responded() || q.Messages.At(i+1).First != q.Messages.At(i).Last.Add(1)) {
		return // that comes next, or may have been in the gap between the two
	}
	r.ClosePending() // this is what it owes, with a wrong PSN
	if outOfOrder(c, from, p) {
		return
	}
	v.Report(c, from, p, rule.Verdict{
		Rule: rule.RCRSP029, Class: rule.Proven(c.Sees(from) && !q.IsReordered(p.PSN)), Role: rule.Responder,
		Wants: rule.Want(expect.PSN, uint64(r.Last.PSN)), Expected: "PSN " + r.Last.PSN.String() + ", the latest acknowledged PSN, for a duplicate", Actual: "PSN " + p.PSN.String(),
		Detail: verifier.MissedDetail(c, from), Evidence: []uint64{packet.FrameNear(p.Frame, r.Last.Frame)},
	})
}

// unsolicited judges an Acknowledge that repeats the PSN of the newest response (rule RC-ACK-008): it may bring credits, and
// repeats its MSN too unless it answers a duplicate.
func (v *Verifier) unsolicited(c *qp.Pair, from int, p *packet.Packet) {
	r := c.RQ(from)
	v.Covered(rule.RCACK008)
	if !r.DuplicateRequest && p.MSN != r.MSN.Last && r.Last.Positive {
		v.Report(c, from, p, rule.Verdict{
			Rule: rule.RCACK008, Class: rule.Unproven, Role: rule.Responder,
			Wants: rule.Want(expect.MSN, uint64(r.MSN.Last)), Expected: fmt.Sprintf("MSN %d, as with this PSN before", r.MSN.Last), Actual: fmt.Sprintf("MSN %d", p.MSN),
			Detail: "the responder may have executed messages since", Evidence: []uint64{packet.FrameNear(p.Frame, r.Last.Frame)},
		})
		return
	}
	v.msn(c, from, p, 0)
	v.credits(c, from, p)
}

// beyondGap deals with a response to a request after a gap: the responder has what the tap has not seen, or it acknowledges what
// it cannot have (rule RC-RSP-006).
func (v *Verifier) beyondGap(c *qp.Pair, from int, p *packet.Packet, acked packet.PSN) {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	if !q.Gap.Open() || acked.Before(q.Gap.From) {
		return
	}
	// Where the PSN that is missing is just what is acknowledged, and one packet came after it, that one had the wrong PSN.
	renumbered := acked == q.Gap.From && onePastGap(q) && !v.Profile.Keeps()
	if renumbered && isACK(p) && q.Last.PSN == q.Gap.To {
		q.SetGapFilled(true) // the next request shows it
		return
	}
	unseen := missedMessages(q, r, p, acked)
	gap := unseen > 1
	if gap {
		v.captureGap(c, 1-from)
	}
	if c.Sees(from) && isGap(q, r) && !renumbered && !gap && !v.keptAfterGap(q, p) {
		v.acksGap(c, from, p)
	}
	if (gap || !c.Sees(from)) && isACK(p) && isGap(q, r) && !q.Gap.Shown && !q.DamagedAt(q.Gap.From) {
		q.CountAcked(p, acked)
	}
	if !c.Sees(from) {
		c.Lose()
	}
	r.MSN.Lose()
	if q.Sprayed() { // what is missing after that may come yet
		q.PassGap(acked.Add(1))
		return
	}
	q.CloseGap()
	q.CatchUp()
}

// isACK reports whether p is a positive Acknowledge.
func isACK(p *packet.Packet) bool {
	return p.Opcode.Fn() == packet.Acknowledge && p.Syndrome.Type() == packet.ACK
}

// onePastGap reports whether only one packet came after the gap, and nothing shows what became of the one that is missing.
func onePastGap(q *qp.SendQueue) bool {
	return q.Gap.To.Add(1) == q.High && !q.DamagedAt(q.Gap.From)
}

// isGap reports whether what is missing in the gap can only have been missed by the responder.
func isGap(q *qp.SendQueue, r *qp.ReceiveQueue) bool {
	return r.MSN.StartKnown && !mayPrecedeCapture(q, r) && !q.Gap.Explained && !q.Gap.Filled
}

// keptAfterGap reports whether the responder keeps what came after a gap, so that response p may acknowledge it: a sequence NAK may ask for what another gap lacks.
func (v *Verifier) keptAfterGap(q *qp.SendQueue, p *packet.Packet) bool {
	return v.Profile.Keeps() && (q.Gap.From.Before(q.Una) || requestSeen(q, q.Gap.From) || v.Profile.SelectiveRepeat && p.Syndrome == packet.NAKSequence)
}

// acksGap reports a response that acknowledges what is missing in the gap (rule RC-RSP-006), or what arrived damaged.
func (v *Verifier) acksGap(c *qp.Pair, from int, p *packet.Packet) {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	id := rule.RCRSP006
	if q.DamagedAt(q.Gap.From) {
		id, _ = damaged(q)
	}
	v.Covered(id)
	d := rule.Verdict{
		Rule: id, Class: rule.Violation, Role: rule.Responder,
		Expected: "nothing acknowledged from PSN " + q.Gap.From.String() + " on: that packet has not arrived", Actual: "PSN " + p.PSN.String(), Gap: rule.GapAt(q.Gap.From),
	}
	if id != rule.RCRSP006 {
		consequence(c, from, &d)
	}
	v.Report(c, from, p, d)
	if (r.State == qp.SequenceNAKed || r.State == qp.RNRNAKed) && r.NAK.PSN == q.Gap.From {
		r.CloseNAK() // that it was not retransmitted is the same fault
	}
}

// mayPrecedeCapture reports whether what is missing in the gap may have arrived before the capture began: the first packets of the message after all that the
// responder has counted since its first response, whose last ones came after the gap.
func mayPrecedeCapture(q *qp.SendQueue, r *qp.ReceiveQueue) bool {
	s := q.History().Get(q.Gap.To)
	return firstCount(q, r) && s != nil && !s.Trace.Opcode.Info().First && !s.Trace.Opcode.Info().Only
}

// firstCount reports whether no response has counted more than the first one, of a capture that does not show how the connection began.
func firstCount(q *qp.SendQueue, r *qp.ReceiveQueue) bool {
	return q.FirstMSN != 0 && r.MSN.Last == q.FirstMSN
}

// requestSeen reports whether the request that takes a PSN has been seen, or a READ before it that may take it.
func requestSeen(q *qp.SendQueue, psn packet.PSN) bool {
	if q.History().Get(psn) != nil {
		return true
	}
	const far = 1 << 10 // no READ that is seen in a gap is longer
	for i := 1; i < far && !psn.Add(-i).Before(q.First); i++ {
		if s := q.History().Get(psn.Add(-i)); s != nil {
			return s.Trace.Opcode.Fn() == packet.ReadRequest
		}
	}
	return false
}

// judgeOvertaking judges that a response to psn does not overtake a READ or an atomic that is still to be answered: only its own
// response acknowledges it (rules RC-ACK-003, RC-RSP-007).
func (v *Verifier) judgeOvertaking(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[1-from].SQ
	v.Covered(rule.RCRSP007)
	if oldest := overtaken(q, p); oldest != nil && !waitsForRequest(c, from, oldest) {
		if oldest.Op == wqe.Read && p.PSN.After(oldest.Last) {
			v.missesResponses(c, from, p, oldest, oldest.Last.Diff(oldest.RespNext())+1)
		}
		v.reportOvertaking(c, from, p, oldest)
	}
}

// overtaken returns the oldest READ or atomic that response p overtakes and that nothing is reported of, or nil, and notes that none of those is answered any more:
// one response overtakes several, and gives one finding.
func overtaken(q *qp.SendQueue, p *packet.Packet) (oldest *wqe.SendWQE) {
	for i := q.Messages.Len() - 1; i >= 0; i-- {
		w := q.Messages.At(i)
		if w.First.After(p.PSN) {
			continue
		}
		if w.Last.Before(q.Una) && !w.Has(wqe.Reissued) && !w.Has(wqe.Gapped) {
			break
		}
		if !w.Op.Responded() || w.Has(wqe.Answered) || !w.Op.Atomic() && p.Opcode.Fn() != packet.Acknowledge && p.PSN.In(w.First, w.Last) {
			continue
		}
		if w.Flags&(wqe.Accused|wqe.Blamed|wqe.Told) == 0 {
			oldest = w
		}
		w.Flags |= wqe.Answered | wqe.Accused
		q.ReadDone()
	}
	return oldest
}

// reportOvertaking reports response p, which overtakes a READ or an atomic (rules RC-ACK-003, RC-RSP-007).
func (v *Verifier) reportOvertaking(c *qp.Pair, from int, p *packet.Packet, oldest *wqe.SendWQE) {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	d := rule.Verdict{
		Rule: rule.RCRSP007, Class: rule.Proven(c.Sees(from) && r.MSN.StartKnown && !q.IsReordered(oldest.First)), Role: rule.Responder,
		Expected: "the response to the " + oldest.Op.String() + " at PSN " + oldest.First.String() + " first",
		Actual:   p.Opcode.String() + " with PSN " + p.PSN.String(), Evidence: []uint64{packet.FrameNear(p.Frame, oldest.Frame)}, Gap: rule.GapAt(oldest.RespNext()),
	}
	if p.PSN.In(oldest.First, oldest.Last) {
		d.Rule, d.Class = rule.RCACK003, rule.Proven(c.Sees(from) && !q.IsReordered(oldest.First))
		d.Expected = "the response to the " + oldest.Op.String() + ": an Acknowledge does not replace it"
		if id, ok := flushRule(oldest.Op); ok {
			d.Rule = id
			v.Covered(id)
		}
	}
	if d.Class == rule.Unproven {
		d.Detail = "the response may have been lost before the tap, or have been sent before the capture began"
	}
	if v.Report(c, from, p, d); d.Class == rule.Violation && p.PSN == oldest.RespNext() && p.PSN != oldest.First {
		oldest.Flags |= wqe.Blamed // it is taken for a response
	}
}

// waitsForRequest reports whether a response as w asks for waits for the request that its PSN names: one that was meant for w, or one that overtook its request.
func waitsForRequest(c *qp.Pair, from int, w *wqe.SendWQE) bool {
	for i := range c.Early() {
		if e := &c.Early()[i].Packet; c.End(e) == from && !e.PSN.In(w.First, w.Last) && e.Opcode.Fn() != packet.Acknowledge && w.Answers(e.Opcode.Fn()) {
			return true
		}
	}
	return false
}

// acknowledgesNaked judges a response that acknowledges a PSN which was NAKed and not retransmitted (rules RC-RSP-006, RC-RSP-018).
func (v *Verifier) acknowledgesNaked(c *qp.Pair, from int, p *packet.Packet) {
	r := c.RQ(from)
	if q := &c.Ends[1-from].SQ; q.HasCrossed() || q.NAKMeantLater(r.NAK.Time) || r.NAK.Code.Type() == packet.RNRNAK && q.TakeRNRCopy() {
		r.CloseNAK()
		return
	}
	id, disordered := rule.RCRSP006, outOfOrder(c, from, p)
	if r.NAK.Code.Type() == packet.RNRNAK {
		id, disordered = rule.RCRSP018, false
	}
	cameLate(&c.Ends[1-from].SQ, r, p, r.NAK.PSN.Add(1))
	r.CloseNAK()
	v.Covered(id)
	d := rule.Verdict{
		Rule: id, Class: rule.Proven(c.Sees(from)), Role: rule.Responder,
		Expected: "nothing acknowledged from PSN " + r.NAK.PSN.String() + " on until it is retransmitted", Actual: "PSN " + p.PSN.String(),
		Evidence: []uint64{packet.FrameNear(p.Frame, r.NAK.Frame)},
	}
	if d.Class == rule.Unproven {
		d.Detail = "the tap may have missed the retransmission"
		c.Lose()
	}
	if disordered {
		return
	}
	v.Report(c, from, p, d)
}

// progress notes that everything before una is acknowledged.
func (v *Verifier) progress(c *qp.Pair, from int, p *packet.Packet, una packet.PSN) {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	if una.After(q.Una) {
		noteLate(q, progressed(q, r, p), p)
		if q.Acknowledge(una); !v.Broken { // else its requester may have dropped it
			q.StartTimer(p.Time)
		}
	}
	r.ExpectFrom(una)
	if (r.State == qp.SequenceNAKed || r.State == qp.RNRNAKed) && una.After(r.NAK.PSN) {
		v.acknowledgesNaked(c, from, p)
	}
	v.Covered(rule.RCRSP005)
	v.Covered(rule.RCACK003)
	r.CountRNRs(0)
	v.responseWraps(c, r, p)
	r.Last.Answer(p.PSN)
	if r.DuplicateRequest && una.After(r.DuplicateTo) { // this request came after the duplicates, so they have been answered
		r.CloseDuplicate()
		q.ForgetIssues()
	}
	v.credits(c, from, p)
}

// damaged is the rule on a response to the newest damaged packet of a queue, and what was expected instead.
func damaged(q *qp.SendQueue) (rule.ID, string) {
	if q.DamagedOnLink() {
		return rule.LNKCRC006, "no response: the request arrived damaged"
	}
	return rule.RCRSP036, "no response: the request arrived with a wrong ICRC"
}
