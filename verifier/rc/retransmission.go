package rc

import (
	"time"

	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/verifier/stream"
	"ibwitness/wqe"
)

// retransmissionBegins judges where and when a retransmission begins.
func (v *Verifier) retransmissionBegins(c *qp.Pair, from int, p *packet.Packet) {
	end := &c.Ends[from]
	q := &end.SQ
	if l := q.Recovery; l != nil && l.TakenBack.Set {
		if p.PSN == l.TakenBack.PSN {
			q.AssumeAcknowledged(p.PSN) // it goes on where it was, and the NAK was what is wrong
		}
		defer q.CloseBack()
	}
	q.SetAfterIdle(stream.LongIdle(c, p) && !end.Knows(qp.KnowsSQPSN))
	leavesOut := q.Retransmission.Active && p.PSN.After(q.Retransmission.Next) && q.Retransmission.ReadLen == 0
	acknowledged := c.Sees(from) && !p.PSN.After(q.Una) // what was left out needs no retransmission
	if leavesOut && !c.Sees(from) && goesOnAfterAck(c, from, p) {
		v.Covered(rule.RCRTY006)
		return
	}
	if leavesOut && !acknowledged {
		v.Covered(rule.RCRTY006)
		v.Report(c, from, p, rule.Verdict{
			Rule: rule.RCRTY006, Class: rule.Proven(c.Sees(from)), Role: rule.Requester,
			Wants: rule.Want(expect.PSN, uint64(q.Retransmission.Next)), Expected: "PSN " + q.Retransmission.Next.String() + " next: a requester retransmits all later packets in order", Actual: "PSN " + p.PSN.String(),
		})
		return
	}
	if !c.Paired {
		v.retransmissionUnpaired(c, from, p)
		return
	}
	v.countRestart(c, from, p)
	v.mayProcessNakLater(c, from, p)
	v.retransmissionAfterNak(c, from, p)
	v.needless(c, from, p)
	q.Retransmitted(p.PSN, p.Time, hostLag)
}

// goesOnAfterAck reports whether a requester that has gone back goes on with what is not acknowledged yet, as an ACK of what it leaves out has come since its packet before.
func goesOnAfterAck(c *qp.Pair, from int, p *packet.Packet) bool {
	q, r := &c.Ends[from].SQ, c.RQ(1-from)
	return c.Paired && p.PSN == q.Una && r.State == qp.Expecting && r.Last.Positive && r.Last.Time >= q.Last.Time && qp.Prompt(q.Last.Time, p.Time)
}

// retransmissionUnpaired judges a retransmission of a requester whose responses are not known.
func (v *Verifier) retransmissionUnpaired(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[from].SQ
	v.timerExpired(q, p)
	if c.Sees(from) && p.PSN.Before(q.First) {
		q.LackResponse(p.PSN, p.Time)
	} else if p.PSN == q.First && c.Ends[from].Attr != nil && v.neverResponded(c) {
		v.neverAnswered(c, from, p)
	}
}

// retransmissionAfterNak judges a retransmission by what its responder asked for with its newest NAK, or that it asked for nothing.
func (v *Verifier) retransmissionAfterNak(c *qp.Pair, from int, p *packet.Packet) {
	q, r := &c.Ends[from].SQ, c.RQ(1-from)
	switch r.State {
	case qp.RNRNAKed:
		v.afterRNR(c, from, p)
	case qp.SequenceNAKed:
		v.afterSequenceNak(c, from, p)
	case qp.Failed:
		v.afterFatal(c, from, p)
	case qp.Expecting:
		if !q.Gap.Open() && !nakExplains(q, r, p.Time) && !q.AskedFor(p.PSN, p.Time, mayLag(c, from)) && !nakWaits(c, from) {
			v.timeout(c, from, p)
			v.skipsOldest(c, from, p)
		}
	}
}

// countRestart counts how often a requester has begun to retransmit at the same PSN without progress, and how often of these a NAK has asked for it.
func (v *Verifier) countRestart(c *qp.Pair, from int, p *packet.Packet) {
	q, r := &c.Ends[from].SQ, c.RQ(1-from)
	q.RestartAt(p.PSN)
	if r.State == qp.RNRNAKed || q.Restarts == 0 && q.TakeRetryReset() { // that has a counter of its own (RC-RTY-003)
		return
	}
	q.CountRestart()
	if r.State == qp.SequenceNAKed || r.State == qp.Expecting && answeredLater(q, r, p) {
		q.CountNAKRestart()
	}
}

// afterSequenceNak judges where a requester resumes after a PSN sequence NAK (rule RC-RTY-005).
func (v *Verifier) afterSequenceNak(c *qp.Pair, from int, p *packet.Packet) {
	end, r := &c.Ends[from], c.RQ(1-from)
	q := &end.SQ
	v.Covered(rule.RCRTY005)
	w, _ := q.Messages.Find(p.PSN)
	rest := w != nil && w.Op == wqe.Read && r.NAK.PSN.In(w.First, w.Last) && !p.PSN.After(q.Missing(w)) // a response has overtaken the NAK
	v.beforeNak(c, from, p, w)
	if end.Knows(qp.KnowsRetryCnt) {
		v.retries(c, from, p, true)
	}
	passed := c.Sees(from) && (!p.PSN.After(q.RequesterUna()) || answered(q, r.NAK.PSN, p.PSN))               // or has acknowledged what that asks for
	if p.PSN.After(r.NAK.PSN) && !rest && !passed && !r.NAK.Blamed && !q.DamagedBetween(r.NAK.Time, p.Time) { // else it has resumed with what came damaged
		r.BlameNAK()
		v.Report(c, from, p, rule.Verdict{
			Rule: rule.RCRTY005, Class: rule.Proven(c.Sees(from)), Role: rule.Requester,
			Expected: "to resume at PSN " + r.NAK.PSN.String() + " or before", Actual: "PSN " + p.PSN.String(),
			Evidence: []uint64{packet.FrameNear(p.Frame, r.NAK.Frame)},
		})
	}
}

// neverAnswered judges when and how often a requester that nobody has ever answered begins again.
func (v *Verifier) neverAnswered(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[from].SQ
	q.RestartAt(p.PSN)
	q.CountRestart()
	v.timeout(c, from, p)
}

// nakProcessedWithin is how long after a PSN sequence NAK a requester has processed it, though its host stalls or holds packets back.
const nakProcessedWithin = 20 * time.Millisecond

// requestsAfterNak judges new requests after a PSN sequence NAK: their requester resumes at the PSN that the NAK names (rule RC-RTY-005). The first of them
// is the fault once another shows that it was not in flight.
func (v *Verifier) requestsAfterNak(c *qp.Pair, from int, p *packet.Packet) {
	q, r := &c.Ends[from].SQ, c.RQ(1-from)
	took := time.Duration(p.Time - r.NAK.Time)
	if took <= verifier.InFlight || r.NAK.Blamed || p.PSN.Before(q.High) || !p.PSN.After(r.NAK.PSN) || q.HasCrossed() || q.DamagedBetween(r.NAK.Time, p.Time) {
		return
	}
	v.Covered(rule.RCRTY005)
	l := q.Lost()
	if l.AfterNAK.First == nil || l.AfterNAK.First.Time < r.NAK.Time {
		q.SetFirstAfterNAK(p.Bare())
	}
	first := l.AfterNAK.First
	if time.Duration(p.Time-first.Time) <= nakProcessedWithin {
		return
	}
	r.BlameNAK()
	q.SetFirstAfterNAK(nil)
	v.Report(c, from, first, rule.Verdict{
		Rule: rule.RCRTY005, Class: rule.Proven(c.Sees(from)), Role: rule.Requester,
		Expected: "to resume at PSN " + r.NAK.PSN.String() + " or before", Actual: "new requests from PSN " + first.PSN.String() + " on, until " + took.String() + " after the NAK",
		Detail: verifier.LossDetail(c, from), Evidence: []uint64{packet.FrameNear(p.Frame, r.NAK.Frame)},
	})
}

// skipsOldest judges that a retransmission which no NAK asked for begins with the oldest request that is not acknowledged (rule RC-RTY-006). Only a
// tap near the requester shows how far it has been acknowledged.
func (v *Verifier) skipsOldest(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[from].SQ
	oldest := q.RequesterUna()
	if !c.Sees(from) || oldest.Before(q.First) || impliedNAK(q, p) {
		return
	}
	v.Covered(rule.RCRTY006)
	if p.PSN.After(oldest) {
		d := rule.Verdict{
			Rule: rule.RCRTY006, Class: rule.Violation, Role: rule.Requester,
			Wants: rule.Want(expect.PSN, uint64(oldest)), Expected: "PSN " + oldest.String() + " first: it is not acknowledged", Actual: "PSN " + p.PSN.String(),
		}
		if answersBeforeCapture(c, from) {
			d.Class, d.Detail = rule.Unproven, beforeCapture
		}
		v.Report(c, from, p, d)
	}
}

// beforeCapture is why a retransmission is unproven while responses to what was sent before the capture still come.
const beforeCapture = "responses to what was sent before the capture have just come: what asked for the retransmission may not be in the capture"

// answered reports whether anything has come in answer to a READ or atomic from psn first to last.
func answered(q *qp.SendQueue, first, last packet.PSN) bool {
	for i := q.Messages.UpTo(last); i >= 0 && !q.Messages.At(i).First.Before(first); i-- {
		if w := q.Messages.At(i); w.Op.Responded() && w.RespFrame != 0 {
			return true
		}
	}
	return false
}

// nakExplains reports whether the newest NAK, or the wait after an RNR NAK, may be why something is retransmitted at time now, though a response has
// overtaken it meanwhile.
func nakExplains(q *qp.SendQueue, r *qp.ReceiveQueue, now int64) bool {
	return r.NAK.Time != 0 && now-r.NAK.Time < int64(verifier.InFlight) || now < q.Waits()
}

// nakWaits reports whether a sequence NAK to end from has not been judged yet, since nothing had been seen after its PSN.
func nakWaits(c *qp.Pair, from int) bool {
	for i := range c.Early() {
		if p := &c.Early()[i].Packet; c.End(p) != from && p.Opcode.Fn() == packet.Acknowledge && p.Syndrome == packet.NAKSequence {
			return true
		}
	}
	return false
}

// needless judges that nothing is retransmitted that the requester knows to be acknowledged (rules RC-RTY-008, -010). Elsewhere than near
// the requester one response that was lost after the tap explains all of it until there is progress: one finding.
func (v *Verifier) needless(c *qp.Pair, from int, p *packet.Packet) {
	q, r := &c.Ends[from].SQ, c.RQ(1-from)
	id := rule.RCRTY010
	w, _ := q.Messages.Find(p.PSN)
	if w != nil && w.Op == wqe.Read {
		id = rule.RCRTY008
	}
	v.Covered(id)
	una := q.RequesterUna()
	if mayLackResponse(c, from, p) || !c.Sees(from) && unansweredRead(p, w) {
		return
	}
	if !r.Last.Positive || !c.Sees(from) && (w != nil && w.Has(wqe.Accused) || !q.Needless()) {
		v.lacksAnswers(c, from, p, w)
		return
	}
	c.Misplace(q.Next)
	d := rule.Verdict{
		Rule: id, Class: rule.Proven(c.Sees(from)), Role: rule.Requester,
		Expected: "nothing before PSN " + una.String() + ": it is acknowledged", Actual: "a retransmission of PSN " + p.PSN.String(),
		Evidence: []uint64{packet.FrameNear(p.Frame, r.Last.Frame)},
	}
	v.doubtNeedless(c, from, p, w, &d)
	v.Report(c, from, p, d)
}

// lacksAnswers takes back that READ p of message w was retransmitted needlessly, at a tap that is not near its requester, where that retransmits it once more
// long after the answers to it had passed once more: they do not arrive.
func (v *Verifier) lacksAnswers(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) {
	r := c.RQ(1 - from)
	if c.Sees(from) || w == nil || w.Op != wqe.Read || p.PSN != w.First || p.Time-r.Last.Time < reordering {
		return
	}
	requester, responder := verifier.Endpoint(&c.Ends[from]), verifier.Endpoint(&c.Ends[1-from])
	for _, k := range v.Rec.About(rule.RCRTY008, requester, responder, 0) {
		if f := &v.Rec.Findings[k]; f.Class == rule.Unproven && f.PSN == p.PSN && f.Time < r.Last.Time {
			v.Rec.Remove(k)
			return
		}
	}
}

// unansweredRead reports whether nothing shows that READ or atomic p of message w was answered itself; w is nil where that is not known any more.
func unansweredRead(p *packet.Packet, w *wqe.SendWQE) bool {
	return wqe.OpOf(p.Opcode.Fn()).Responded() && (w == nil || !w.AnswerCame(p.PSN))
}

// doubtNeedless takes the proof from d, on retransmission p of message w, where its requester may not have processed the response yet.
func (v *Verifier) doubtNeedless(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE, d *rule.Verdict) {
	q, r := &c.Ends[from].SQ, c.RQ(1-from)
	took, coarse := p.Time-r.Last.Time, int64(verifier.Unit(p.Time, r.Last.Time))
	switch {
	case d.Class != rule.Violation || w == nil:
	case answersBeforeCapture(c, from):
		d.Class, d.Detail = rule.Unproven, beforeCapture
	case took-coarse < stream.Uptake && (justAcknowledged(q, r, w) || v.inBurst(q, r, w) && v.mayRetransmit(c, from, p) || q.MayLackResponses(p.Time)):
		q.MayLackResponsesUntil(r.Last.Time + stream.Uptake + coarse)
		d.Class, d.Detail = rule.Unproven, "the response had just passed the tap: it may not have reached the requester when its timer expired"
	case took+coarse >= stream.Uptake && !v.sentSince(c, from, w) && v.mayRetransmit(c, from, p):
		d.Class, d.Detail = rule.Unproven, "nothing shows that the requester has processed the response: its host may have stalled until its timer expired"
	}
}

// lostAfterTap reports whether the response to READ or atomic p of end from may have been lost after a tap that is not near there: the end asks for it once more right after a later one has passed.
func lostAfterTap(c *qp.Pair, from int, p *packet.Packet) bool {
	r := c.RQ(1 - from)
	return !c.Sees(from) && laterAnswer(r, p) && qp.Prompt(r.Last.Time, p.Time)
}

// mayLackResponse reports whether the requester of retransmission p may lack the response to it: nothing has acknowledged it, or only what was sent before the capture, what a
// NAK has met, or what has overtaken another response.
func mayLackResponse(c *qp.Pair, from int, p *packet.Packet) bool {
	q, r := &c.Ends[from].SQ, c.RQ(1-from)
	near, una := c.Sees(from), q.RequesterUna()
	responded := wqe.OpOf(p.Opcode.Fn()).Responded()
	switch {
	case near && (p.PSN.Before(q.First) && (responded || una == q.First) || una.Before(q.First)):
		q.LackResponse(p.PSN, p.Time) // a READ or atomic from before the capture may lack its response, and goes first then
	case !p.PSN.Before(una):
	case r.State != qp.Expecting || r.NAK.Time != 0 && p.Time-r.NAK.Time < int64(verifier.InFlight) || near && q.AskedFor(p.PSN, p.Time, mayLag(c, from)): // where that NAK found it, which the answers may have met
		if near && responded {
			q.LackResponse(p.PSN, p.Time) // and which it then has not processed
		}
	case near && q.ImpliedNAK(p.PSN, p.Time, goBackTime):
		q.LackResponse(p.PSN, p.Time)
	default:
		return false
	}
	return true
}

// justAcknowledged reports whether the newest response may be the first that acknowledges message w.
func justAcknowledged(q *qp.SendQueue, r *qp.ReceiveQueue, w *wqe.SendWQE) bool {
	for i := q.Messages.UpTo(r.Last.PSN) - 1; i >= 0 && !q.Messages.At(i).First.Before(w.First); i-- {
		if q.Messages.At(i).Has(wqe.AckWanted) {
			return false // which a response before acknowledged
		}
	}
	return true
}

// inBurst reports whether the requester of w has sent no new request between the answer to it and the newest response, as far as is known: its host may have been
// stopped meanwhile. When a SEND or WRITE was acknowledged is not kept, so that for these no request may have come much after them.
func (v *Verifier) inBurst(q *qp.SendQueue, r *qp.ReceiveQueue, w *wqe.SendWQE) bool {
	for i := q.Messages.Len() - 1; i >= 0; i-- {
		m := q.Messages.At(i)
		switch {
		case !m.First.After(w.First):
			return true
		case int32(m.Frame-r.Last.Frame) > 0: // since then
		case w.Op.Responded() && int32(m.Frame-w.RespFrame) > 0:
			return false
		case !w.Op.Responded() && (v.waitingSince == 0 || m.Asked != 0 && int64(m.Asked-v.waitingSince)*int64(verifier.Tick) > stream.Uptake):
			return false
		}
	}
	return true
}

// requesterTakes notes how far the requester can take a response, at a tap near it: elsewhere it may have got what the tap has missed.
func (v *Verifier) requesterTakes(c *qp.Pair, from int, p *packet.Packet, psn packet.PSN, own bool) {
	switch q := &c.Ends[1-from].SQ; {
	case v.Broken && c.Sees(1-from):
		q.LackResponse(q.RequesterUna(), p.Time) // a requester drops it
	case c.Sees(1-from) && q.Retransmission.Active && !psn.Before(q.Retransmission.Next) && !psn.Before(q.RequesterUna()):
		if !q.LacksResponse { // it has gone back and is not there again yet: it may not know what is acknowledged
			q.LackResponse(q.RequesterUna(), p.Time)
		}
	case c.Sees(1 - from):
		q.TakeResponse(psn, own, p.Time)
	default:
		q.LackNothing()
	}
}

// timeout judges a retransmission that no NAK asked for (see timer and retries).
func (v *Verifier) timeout(c *qp.Pair, from int, p *packet.Packet) {
	end := &c.Ends[from]
	q := &end.SQ
	implied := impliedNAK(q, p) || lostAfterTap(c, from, p)
	if !implied {
		v.Event(c, from, rule.Requester, p, rule.EvTimeout, "")
	}
	v.responseMissing(c, from, p)
	seen := time.Duration(q.TimerSeen())
	if !implied && !p.PSN.Before(q.RequesterUna()) {
		v.timerExpired(q, p)
	}
	switch {
	case implied || q.TimerStart == 0 || answersBeforeCapture(c, from):
	case end.Knows(qp.KnowsTimeout):
		v.timer(c, from, p, seen)
	default:
		v.unknownTimer(c, from, p)
	}
	if end.Knows(qp.KnowsRetryCnt) || c.Paired {
		v.retries(c, from, p, false)
	}
}

// timerExpired notes after which time request p, which nothing has answered, was retransmitted: the timer of its requester is no longer than that.
func (v *Verifier) timerExpired(q *qp.SendQueue, p *packet.Packet) {
	q.TimedOut(int64(v.outstanding(q, p)))
}

// answeredLater reports whether a response has shown the requester that one before it is missing, or came right before READ or atomic p, and answers
// what comes after it.
func answeredLater(q *qp.SendQueue, r *qp.ReceiveQueue, p *packet.Packet) bool {
	return impliedNAK(q, p) || qp.Prompt(r.Last.Time, p.Time) && laterAnswer(r, p)
}

// impliedNAK reports whether a response has shown the requester that one before it is missing: no timer had to run out for p to be retransmitted.
func impliedNAK(q *qp.SendQueue, p *packet.Packet) bool {
	if q.LacksResponse || q.Recovery != nil && q.Recovery.Lack.Since != 0 && p.Time-q.Recovery.Lack.Since < int64(verifier.InFlight) {
		return true
	}
	w, _ := q.Messages.Find(p.PSN)
	return w != nil && w.Op.Responded() && w.Flags&(wqe.Gapped|wqe.Holed|wqe.Accused) != 0
}
