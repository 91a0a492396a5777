package rc

import (
	"math"
	"time"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// tick is how much later than four timer values a retransmission may leave where an operating system counts the timer: in ticks of up to 10 ms.
const tick = int64(10 * time.Millisecond)

// quantum is how much later than four timer values a retransmission may leave.
func (v *Verifier) quantum() int64 {
	if v.Profile.HardwareTimers {
		return 0
	}
	return tick
}

// Soonest is the time after a packet in which Silent may have something to tell at the earliest.
func (v *Verifier) Soonest() int64 {
	soonest := 4*int64(shortest) + v.quantum()
	if answer := int64(v.Profile.Answer); answer != 0 {
		return min(soonest, answer)
	}
	return soonest
}

// Patience is the same of one connection.
func (v *Verifier) Patience(c *qp.Pair) int64 {
	return min(v.patience(&c.Ends[0]), v.patience(&c.Ends[1]))
}

// patience is for how long nothing may happen after a request of an end, in nanoseconds: four times the value of its timer where that is known, as the timer may run as long.
func (v *Verifier) patience(end *qp.QP) int64 {
	switch {
	case end.Knows(qp.KnowsTimeout) && end.Attr.Timeout != 0:
		return 4*int64(packet.Timeout(end.Attr.Timeout)) + v.quantum()
	case v.Profile.HardwareTimers && v.Profile.Answer != 0:
		return int64(v.Profile.Answer)
	}
	return silence
}

// never is the time of what is not due.
const never = int64(math.MaxInt64)

// Silent judges the ends of an RC connection that have left something undone up to time now: a requester whose timer has run out, and a responder
// that owes an answer (rules RC-TMO-004, RC-RSP-005, RC-RSP-002). That the queue pair still exists, and silence is no right of it, shows where it sent something
// after the time was over, or where its events show it. It returns until when there is nothing more to tell of what has come until now.
func (v *Verifier) Silent(c *qp.Pair, now int64) (due int64) {
	due = never
	if c.Closed || c.Ends[0].Reused || c.Ends[1].Reused || !c.Paired && !v.neverResponded(c) {
		return due
	}
	for from := range c.Ends {
		q, r := &c.Ends[from].SQ, c.RQ(1-from)
		if q.Joined && q.Una == q.High && r.Duplicate.Time != 0 {
			due = min(due, v.duplicateIgnored(c, from, now))
		}
		if !q.Joined || !q.Una.Before(q.High) || r.State == qp.RNRNAKed || r.State == qp.Failed || q.Jump != nil {
			continue
		}
		if q.Gap.Open() {
			due = min(due, v.noSequenceNak(c, from, now))
		}
		if _, oldest := q.Outstanding(); oldest != nil {
			due = min(due, v.timerIgnored(c, from, oldest, now), v.noAnswer(c, from, oldest, now))
		}
	}
	return due
}

// timerIgnored judges a requester whose timer has run out and that has retransmitted nothing, although retries are left (rule RC-TMO-004), and returns
// until when its time lasts.
func (v *Verifier) timerIgnored(c *qp.Pair, from int, oldest *wqe.SendWQE, now int64) int64 {
	end, r := &c.Ends[from], c.RQ(1-from)
	q := &end.SQ
	if !end.Knows(qp.KnowsTimeout|qp.KnowsRetryCnt) || end.Attr.Timeout == 0 || q.TimerStart == 0 || q.ReportedSilent(q.TimerStart) || !c.Sees(from) {
		return never
	}
	v.Covered(rule.RCTMO004)
	since := max(q.TimerStart, r.NAK.Time, r.Last.Time, q.Waits())
	if q.Retransmission.Active {
		since = max(since, q.Last.Time)
	}
	most := 4 * int64(packet.Timeout(end.Attr.Timeout))
	if q.Restarts >= uint16(end.Attr.RetryCnt) {
		return never
	}
	if now <= since+most+v.quantum() {
		return since + most + v.quantum()
	}
	life := v.qpLife(c, from, since, most+v.quantum())
	if life == qp.Gone {
		return never
	}
	q.ReportSilent()
	p := v.newestRequest(q)
	direct, detail := timeoutKnown(end)
	d := rule.Verdict{
		Rule: rule.RCTMO004, Class: rule.Proven(direct && life == qp.Alive), Role: rule.Requester,
		Expected: "a retransmission within " + time.Duration(most).String() + ": PSN " + packet.Later(q.Una, oldest.First).String() + " is not acknowledged",
		Actual:   "none in " + time.Duration(now-since).String(), Evidence: []uint64{packet.FrameNear(p.Frame, oldest.Frame)}, Detail: detail,
	}
	if life != qp.Alive {
		d.Detail = goneMaybe
	}
	v.Report(c, from, p, d)
	return never
}

// noAnswer judges a responder that has left a request without any response (rule RC-RSP-005), and returns until when its time lasts. from is the end of
// the requester.
func (v *Verifier) noAnswer(c *qp.Pair, from int, oldest *wqe.SendWQE, now int64) int64 {
	end := &c.Ends[from]
	q, r := &end.SQ, c.RQ(1-from)
	if !c.Paired && !v.awaits(c, from) || !c.Sees(1-from) || r.State != qp.Expecting || q.Gap.Open() || len(c.Early()) != 0 || q.ReportedUnanswered() {
		return never
	}
	s := firstAckReq(q, oldest)
	if s == nil || !(s.PSN & packet.PSNMask).Before(r.EPSN) || s.Trace.Flags&packet.TraceSealed == 0 && c.Sealed(from) {
		return never
	}
	v.Covered(rule.RCRSP005)
	since, most, due := v.answerDue(end, r)
	switch {
	case !due:
		return never
	case now <= since+most:
		return since + most
	}
	life := v.qpLife(c, 1-from, since, most)
	if life == qp.Gone {
		return never
	}
	q.ReportUnanswered()
	r.ClosePending()
	p := v.newestRequest(q)
	p.PSN, p.Opcode, p.Frame = s.PSN&packet.PSNMask, s.Trace.Opcode, packet.FrameNear(q.Last.Frame, s.Frame)
	d := rule.Verdict{
		Rule: rule.RCRSP005, Class: rule.Proven(life == qp.Alive), Role: rule.Responder,
		Expected: "a response: AckReq is set", Actual: "none in " + time.Duration(now-since).String(),
	}
	if v.Profile.HardwareTimers {
		d.Expected = "a response within " + time.Duration(most).String() + ": AckReq is set"
	}
	switch {
	case !c.Paired:
		d.Class, d.Detail = rule.Unproven, neverAnswered
	case d.Class == rule.Unproven:
		d.Detail = goneMaybe
	}
	v.Accuse(c, 1-from, p, d)
	return never
}

// duplicateIgnored judges a responder that has acknowledged all, and has left a duplicate SEND or WRITE without any response, whose requester lacks that
// acknowledgement (rule RC-RSP-005), and returns until when its time lasts. from is the end of the requester.
func (v *Verifier) duplicateIgnored(c *qp.Pair, from int, now int64) int64 {
	r := c.RQ(1 - from)
	d := &r.Duplicate
	if !c.Paired || !c.Sees(1-from) || d.Told || r.Last.Time >= d.Time || !r.Last.Positive || r.State != qp.Expecting || r.Pending != nil || len(c.Early()) != 0 {
		return never
	}
	most := v.patience(&c.Ends[from])
	if now <= d.Time+most {
		return d.Time + most
	}
	life := v.qpLife(c, 1-from, d.Time, most)
	if life == qp.Gone {
		return never
	}
	v.Covered(rule.RCRSP005)
	r.TellDuplicate()
	p := &packet.Packet{Time: d.Time, Tap: d.Tap, Frame: d.Frame, PSN: d.PSN, Opcode: d.Opcode, Has: packet.HasBTH}
	f := rule.Verdict{
		Rule: rule.RCRSP005, Class: rule.Proven(life == qp.Alive), Role: rule.Responder,
		Expected: "an ACK of PSN " + r.Last.PSN.String() + ", the latest acknowledged, for a duplicate: AckReq is set", Actual: "no response in " + time.Duration(now-d.Time).String(),
		Evidence: []uint64{packet.FrameNear(d.Frame, r.Last.Frame)},
	}
	if f.Class == rule.Unproven {
		f.Detail = goneMaybe
	}
	v.Accuse(c, 1-from, p, f)
	return never
}

const neverAnswered = "the queue pair has never sent a response: the requests may not be for it, by a field that is not its own, such as the Ethernet address"

// awaits reports whether the queue pair that the requests of an end go to is known to be connected to that end, although no response has shown it: in a simulation, where it is to tell of a device
// that is silent from the beginning.
func (v *Verifier) awaits(c *qp.Pair, from int) bool {
	b := &c.Ends[1-from]
	return v.Profile.HardwareTimers && b.KnowsDirectly(qp.KnowsDestQPN|qp.KnowsDestAddr) && b.Attr.DestAddr == c.Ends[from].Addr
}

// noSequenceNak judges a responder to which a request has come after a gap, and that has neither asked for what is missing nor responded
// (rule RC-RSP-002), and returns until when its time lasts, which is as long as for any response. from is the end of the requester.
func (v *Verifier) noSequenceNak(c *qp.Pair, from int, now int64) int64 {
	end, q, r := &c.Ends[from], &c.Ends[from].SQ, c.RQ(1-from)
	s := v.sequenceNakOwed(c, from)
	if s == nil || q.Gap.Filled || q.ReportedUnanswered() {
		return never
	}
	_, most, _ := v.answerDue(end, r)
	since := max(q.Last.Time, r.Last.Time)
	if now <= since+most {
		return since + most
	}
	life := v.qpLife(c, 1-from, since, most)
	if life == qp.Gone || v.blamed(c, 1-from, rule.RCRSP002, uint64(q.Gap.To)) >= 0 {
		return never
	}
	v.Covered(rule.RCRSP002)
	q.ReportUnanswered()
	p := v.newestRequest(q)
	p.PSN, p.Opcode, p.Frame = q.Gap.To, s.Trace.Opcode, packet.FrameNear(q.Last.Frame, s.Frame)
	d := rule.Verdict{
		Rule: rule.RCRSP002, Class: rule.Proven(life == qp.Alive && asksAfterGap(q)), Role: rule.Responder,
		Expected: "a PSN sequence NAK for PSN " + q.Gap.From.String() + ": a later PSN had arrived", Actual: "no response in " + time.Duration(now-since).String(),
	}
	switch {
	case life != qp.Alive:
		d.Detail = goneMaybe
	case d.Class == rule.Unproven:
		d.Detail = "the tap may have missed what is missing: nothing that came after it asks for a response"
	}
	v.Accuse(c, 1-from, p, d)
	return never
}

// asksAfterGap reports whether a request after the gap asks for a response: there must be one, be it a NAK or, where only the tap has missed something, an acknowledgement.
func asksAfterGap(q *qp.SendQueue) bool {
	for i := q.Messages.Len() - 1; i >= 0; i-- {
		switch w := q.Messages.At(i); {
		case w.Last.Before(q.Gap.To):
			return false
		case w.Has(wqe.AckWanted):
			return true
		}
	}
	return false
}

// answeredLate doubts that a responder has left a request without any response, as response p answers it: there is no time within which it must. from is its end.
func (v *Verifier) answeredLate(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[1-from].SQ
	if q.Gap.Open() && !p.PSN.Before(q.Gap.From) {
		v.doubtSilence(c, from, rule.RCRSP002, q.Gap.To)
	}
	_, oldest := q.Outstanding()
	if oldest == nil {
		return
	}
	s := firstAckReq(q, oldest)
	if s == nil || p.PSN.Before(s.PSN&packet.PSNMask) {
		return
	}
	v.doubtSilence(c, from, rule.RCRSP005, s.PSN&packet.PSNMask)
}

// duplicateResponded notes that the responder at end from has sent a response after the newest duplicate: it was slow, if the duplicate was told to have none.
func (v *Verifier) duplicateResponded(c *qp.Pair, from int) {
	r := c.RQ(from)
	if d := r.Duplicate; d.Told {
		v.doubtSilence(c, from, rule.RCRSP005, d.PSN)
	}
	r.RespondDuplicate()
}

// doubtSilence doubts that end at has left a request without any response.
func (v *Verifier) doubtSilence(c *qp.Pair, at int, id rule.ID, psn packet.PSN) {
	if i := v.blamed(c, at, id, uint64(psn)); i >= 0 {
		v.Rec.Doubt(i, "a response came later: the responder was slow, for which the specification has no limit")
	}
}

// answerDue is since when a responder owes an answer to its requester, and how long it may take; due is false where something else is pending.
func (v *Verifier) answerDue(end *qp.QP, r *qp.ReceiveQueue) (since, most int64, due bool) {
	since, most = end.SQ.TimerStart, v.patience(end)
	if pending := r.Pending; pending != nil {
		if pending.NAK || pending.AnsweredAt != 0 {
			return 0, 0, false
		}
		since = pending.RetransmittedAt - pending.Waited
	}
	return max(since, r.Last.Time), most, true
}

const goneMaybe = "the packets do not show whether the queue pair still exists or is in the error state: its verbs events do (--events)"

// firstAckReq returns the first packet from a message on that demands a response, or nil where that is not certain.
func firstAckReq(q *qp.SendQueue, oldest *wqe.SendWQE) *qp.Sent {
	for i := q.Messages.UpTo(oldest.First); i >= 0 && i < q.Messages.Len(); i++ {
		w := q.Messages.At(i)
		if !w.Has(wqe.Whole | wqe.AckWanted) {
			continue
		}
		if w.Op == wqe.Read {
			return q.History().Get(w.First)
		}
		if s := q.History().Get(w.Last); s != nil && (s.Trace.Flags&packet.TraceAckReq != 0 || w.Op.Responded()) {
			return s
		}
		return nil
	}
	return nil
}

// newestRequest is what is kept of the newest request packet of a send queue.
func (v *Verifier) newestRequest(q *qp.SendQueue) *packet.Packet {
	p := &packet.Packet{Time: q.Last.Time, Tap: q.Last.Tap, Frame: q.Last.Frame, PSN: q.Last.PSN, Has: packet.HasBTH}
	if s := q.History().Get(q.Last.PSN); s != nil {
		p.Opcode = s.Trace.Opcode
	}
	return p
}

// qpLife reports whether the queue pair of an end still existed, and was not in error, when a time was over that began at since and took most: it sent
// something after that, and its host did not stop meanwhile; or its events show it.
func (v *Verifier) qpLife(c *qp.Pair, i int, since, most int64) qp.Life {
	end := &c.Ends[i]
	if v.LifeAt != nil && end.Numbered {
		if life := v.LifeAt(end.Addr, end.Number, since+most); life != qp.LifeUnknown {
			return life
		}
	}
	if c.Paired && c.LastTime(i) > max(since, v.Stopped)+most {
		return qp.Alive
	}
	return qp.LifeUnknown
}

func (v *Verifier) neverResponded(c *qp.Pair) bool { return v.Unanswered != nil && v.Unanswered(c) }
