package rc

import (
	"fmt"
	"slices"
	"time"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/wqe"
)

// nakPlace judges the PSN of a NAK: it is the PSN that the responder expects (rules RC-RSP-017, -018). It reports whether it can be.
func (v *Verifier) nakPlace(c *qp.Pair, from int, p *packet.Packet, id rule.ID) bool {
	q, r := &c.Ends[1-from].SQ, &c.Ends[from].RQ
	v.Covered(id)
	old := p.PSN.Before(q.Una)
	if old && overtakenNak(c, from, p) {
		return false
	}
	// What was sent before the first request that the tap saw was lost on its way to it.
	start, known := c.Ends[1-from].Attr.Start()
	if known {
		v.Covered(rule.RCRSP001)
	}
	if old && (r.Answered || naksUna(q, r)) || known && p.PSN.Before(start) && p.PSN.Before(q.First) {
		v.nakGoesBack(c, from, p, id, start)
		return false
	}
	v.beyondGap(c, from, p, p.PSN.Add(-1))
	if p.PSN != q.Una {
		if w, _ := q.Messages.Find(p.PSN); w == nil || !w.Op.Responded() {
			v.impliedByNak(c, from, p)
		}
	}
	return true
}

// overtakenNak reports whether NAK p, for a PSN that is acknowledged, was sent before what acknowledges that: a later NAK has overtaken it, or it had waited for its
// request.
func overtakenNak(c *qp.Pair, from int, p *packet.Packet) bool {
	r := &c.Ends[from].RQ
	if r.Answered {
		return int32(uint32(p.Frame)-r.LastFrame) < 0
	}
	return r.NakTime != 0 && !c.Sees(from)
}

// naksUna reports whether the newest response is a NAK: it asks for the oldest request that is not acknowledged.
func naksUna(q *qp.SendQueue, r *qp.ReceiveQueue) bool {
	return !r.Answered && r.NakFrame != 0 && r.NakPSN == q.Una
}

// nakGoesBack reports a NAK for a PSN that is acknowledged (rule id), or is before start, the start PSN (rule RC-RSP-001).
func (v *Verifier) nakGoesBack(c *qp.Pair, from int, p *packet.Packet, id rule.ID, start packet.PSN) {
	q, r := &c.Ends[1-from].SQ, &c.Ends[from].RQ
	d := rule.Verdict{
		Rule: rule.RCRSP001, Class: rule.Proven(c.Sees(from)), Role: rule.Responder,
		Expected: "a NAK for PSN " + start.String() + " or later: the connection begins there", Actual: "PSN " + p.PSN.String(),
	}
	if before := "a NAK for PSN " + q.Una.String() + " or later: all before it is acknowledged"; r.Answered {
		d.Rule, d.Expected, d.Evidence = id, before, []uint64{packet.FrameNear(p.Frame, r.LastFrame)}
	} else if naksUna(q, r) {
		d.Rule, d.Expected, d.Evidence = id, before, []uint64{packet.FrameNear(p.Frame, r.NakFrame)}
	}
	n, una := len(v.Rec.Findings), q.Una
	v.Report(c, from, p, d)
	if p.Syndrome.Type() == packet.RNRNAK || p.Syndrome == packet.NAKSequence {
		if v.proves(n, id) {
			v.nakForOldest(c, from, p, una)
		}
	}
	if r.Answered && !p.PSN.Before(q.First) && c.Sees(from) {
		q.TakeBack(p.PSN) // it was the ACK that was wrong, if the responder goes on so: one finding
	}
}

// nakForOldest takes NAK p, whose PSN was reported, for one of psn, the oldest that was not acknowledged: both ends may go on as after that, or as if
// there had been none.
func (v *Verifier) nakForOldest(c *qp.Pair, from int, p *packet.Packet, psn packet.PSN) {
	meant, nak := *p.Bare(), qp.SequenceNAKed
	if meant.PSN = psn; p.Syndrome.Type() == packet.RNRNAK {
		nak = qp.RNRNAKed
	}
	v.nak(c, from, &meant, nak)
	c.Ends[1-from].SQ.MayCross()
	c.Ends[from].RQ.Blame()
}

// impliedByNak drops the READs and atomics before a NAK from those outstanding: the NAK implies one of them too.
func (v *Verifier) impliedByNak(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[1-from].SQ
	for i := q.Messages.Len() - 1; i >= 0; i-- {
		w := q.Messages.At(i)
		if w.Last.Before(q.Una) {
			return
		}
		if w.First.Before(p.PSN) && w.Op.Responded() && !w.Has(wqe.Answered) && w.Has(wqe.Blamed) {
			w.Flags |= wqe.Answered
			q.ReadDone()
		}
	}
}

// sequenceNak judges a NAK PSN sequence error: one a gap, for the expected PSN (rules RC-RSP-002, -003, -017, -043).
func (v *Verifier) sequenceNak(c *qp.Pair, from int, p *packet.Packet) {
	end := &c.Ends[from]
	q, r := &c.Ends[1-from].SQ, &end.RQ
	if r.State == qp.SequenceNAKed && v.copiedNak(c, from, p) {
		v.Event(c, from, rule.Responder, p, rule.EvDuplicateResponse, "duplicated by the network")
		return
	}
	end.Faults.NAKs++
	end.Faults.SequenceNAKs++
	v.Event(c, from, rule.Responder, p, rule.EvSeqNAK, "")
	n := len(v.Rec.Findings)
	repeated := v.repeatedNak(c, from, p)
	if c.Sees(from) && q.Gap.Open() {
		v.Covered(rule.RCRSP040)
	}
	mistaken := p.PSN.Before(r.EPSN) && c.IsMisplaced(p.PSN)
	unfounded := false
	switch {
	case repeated:
	case !p.PSN.Add(1).Before(q.High):
		v.noGap(c, from, p)
		unfounded = true
	case hadArrived(c, from, p) && !mistaken:
		unfounded = true
		v.Covered(rule.RCRSP002)
		v.Report(c, from, p, rule.Verdict{
			Rule: rule.RCRSP002, Class: rule.Violation, Role: rule.Responder,
			Expected: "no PSN sequence NAK: the PSN had arrived", Actual: "NAK PSN Sequence Error for " + p.PSN.String(),
		})
	default:
		v.Covered(rule.RCRSP002)
		if !v.nakPlace(c, from, p, rule.RCRSP017) {
			if c.Sees(1-from) && p.PSN.After(q.RequesterUna()) {
				q.NoteRetryReset(q.Una) // it is late, but to its requester it may acknowledge something
			}
			return
		}
	}
	v.takeSequenceNak(c, from, p, v.proves(n, rule.RCRSP002), repeated, unfounded, mistaken)
}

// takeSequenceNak notes a sequence NAK and judges its MSN. told says that it was reported and proven, repeated that the PSN was NAKed before, unfounded that it had
// arrived or nothing came after it, mistaken that a packet with a wrong PSN or opcode made it.
func (v *Verifier) takeSequenceNak(c *qp.Pair, from int, p *packet.Packet, told, repeated, unfounded, mistaken bool) {
	q, r := &c.Ends[1-from].SQ, &c.Ends[from].RQ
	if unfounded = unfounded && countsOwnPSN(q, r, p); !unfounded || !told { // else the syndrome is what is wrong
		v.msn(c, from, p, 1)
	}
	if !repeated || r.State != qp.RNRNAKed { // the wait that an RNR NAK began goes on
		q.RequireRetransmission(p.PSN, p.Time, p.Time+goBackTime)
		v.nak(c, from, p, qp.SequenceNAKed)
	}
	if unfounded || mistaken {
		q.MayCross() // the ACK of the request with a wrong syndrome, or a NAK of what was no request: that it goes on so is the same fault
	}
	if told {
		q.Refute()
		r.Blame()
	}
}

// hadArrived reports whether the request that sequence NAK p asks for had arrived.
func hadArrived(c *qp.Pair, from int, p *packet.Packet) bool {
	q, r := &c.Ends[1-from].SQ, &c.Ends[from].RQ
	return p.PSN.Before(r.EPSN) && c.Sees(from) && !p.PSN.Before(q.Una) && (!q.MayBeRetransmitted(p.PSN) || resumed(q, r, p))
}

// resumed reports whether the responder must have taken the PSN of NAK p, which has come. It has taken what its newest NAK had asked for, as it has
// acknowledged that or p does, and with it all that came before; since then no later PSN came before that of p.
func resumed(q *qp.SendQueue, r *qp.ReceiveQueue, p *packet.Packet) bool {
	return r.NakFrame != 0 && packet.Later(q.Una, p.PSN).After(r.NakPSN) && !q.HasCrossed() && !q.MayBeReordered(p.PSN)
}

// countsOwnPSN reports whether the MSN of a response counts the message that ends at its PSN too, as that of an ACK does.
func countsOwnPSN(q *qp.SendQueue, r *qp.ReceiveQueue, p *packet.Packet) bool {
	least, next, epoch, ok := completed(q, p.PSN)
	return ok && next == least && epoch == r.Epoch && r.MSN == qp.MSNKnown && (p.MSN-least)&packet.PSNMask == r.MSNBase
}

// copiedNak reports whether p is a copy of the newest NAK that something on the path made. An earlier response may come between the two.
func (v *Verifier) copiedNak(c *qp.Pair, from int, p *packet.Packet) bool {
	r := &c.Ends[from].RQ
	if r.NakPSN != p.PSN {
		return false
	}
	return v.copiedResponse(r, p) || !c.Sees(from) && verifier.Numbered(p) && p.IPID == r.NakID && p.Syndrome == r.NakCode && p.Time-r.NakTime < verifier.CopyTime
}

// oldNak counts a PSN sequence NAK for the newest request, the first response of a capture that joined in mid-stream: later ones may have
// arrived before the capture, and the NAK for this one have met it on the way. Nothing follows from it.
func (v *Verifier) oldNak(c *qp.Pair, from int, p *packet.Packet) {
	end := &c.Ends[from]
	end.Faults.NAKs++
	end.Faults.SequenceNAKs++
	v.Event(c, from, rule.Responder, p, rule.EvSeqNAK, "")
}

// noGap reports a PSN sequence NAK although no later PSN had been sent (rule RC-RSP-002).
func (v *Verifier) noGap(c *qp.Pair, from int, p *packet.Packet) {
	v.Covered(rule.RCRSP002)
	if c.IsMisplaced(p.PSN) {
		return // a packet with a wrong PSN or opcode may have seemed later
	}
	v.Report(c, from, p, rule.Verdict{
		Rule: rule.RCRSP002, Class: rule.Proven(c.Sees(from) && !c.Ends[1-from].SQ.IsReordered(p.PSN)), Role: rule.Responder,
		Expected: "a PSN sequence NAK only when a later PSN has arrived", Actual: "NAK for " + p.PSN.String() + "; no later PSN was sent",
		Detail: verifier.MissedDetail(c, from),
	})
}

// repeatedNak judges that a PSN is NAKed once until it is retransmitted (rules RC-RSP-003, -043). It reports whether it was NAKed before.
func (v *Verifier) repeatedNak(c *qp.Pair, from int, p *packet.Packet) bool {
	r := &c.Ends[from].RQ
	v.Covered(rule.RCRSP003)
	v.Covered(rule.RCRSP043)
	if r.NakPSN != p.PSN || r.State != qp.SequenceNAKed && r.State != qp.RNRNAKed {
		return false
	}
	q := &c.Ends[1-from].SQ
	if q.HasCrossed() && (r.State == qp.SequenceNAKed || p.Syndrome.Type() == packet.RNRNAK) {
		return false
	}
	again := r.State == qp.RNRNAKed && p.Syndrome.Type() == packet.RNRNAK && p.Time-r.NakTime < int64(verifier.InFlight)
	if again && q.TakeRNRCopy() {
		return false
	}
	id, was := rule.RCRSP003, "one PSN sequence NAK until the expected PSN arrives"
	if r.State == qp.RNRNAKed {
		id, was = rule.RCRSP043, "no further NAK after the RNR NAK until this PSN is retransmitted"
	}
	d := rule.Verdict{
		Rule: id, Class: rule.Proven(c.Sees(from) || c.Complete() && !nakCrossed(q, r, p)), Role: rule.Responder,
		Expected: was, Actual: p.Syndrome.String() + " for " + p.PSN.String(), Evidence: []uint64{packet.FrameNear(p.Frame, r.NakFrame)},
	}
	if d.Class == rule.Unproven {
		d.Detail = "the tap may have missed a retransmission; after the tap, the request may have been delayed or duplicated; before the tap, the NAKs may have been reordered"
	}
	v.Report(c, from, p, d)
	return true
}

// nakCrossed reports whether what the network does, elsewhere than near the responder, explains a second NAK for a PSN that was not retransmitted: a
// copy of the request or of the NAK, a request that arrived after the next one, NAKs that changed places; or a single frame that the tap missed,
// the request that a PSN sequence NAK has asked for.
func nakCrossed(q *qp.SendQueue, r *qp.ReceiveQueue, p *packet.Packet) bool {
	took := time.Duration(p.Time - r.NakTime)
	soon := took < verifier.InFlight
	switch again := p.Syndrome.Type() == packet.RNRNAK; {
	case r.State == qp.SequenceNAKed && !again: // once the PSN has come there is no reason for another
		return soon && !verifier.Numbered(p)
	case r.State == qp.SequenceNAKed, max(took, 0)+max(verifier.InFlight, verifier.Unit(p.Time, r.NakTime, r.LastTime, q.LastTime)) >= packet.RNRTimer(r.NakCode.Value()):
		return true // the wait may be over, and the request on its way: the directions are not ordered more exactly
	case !again && verifier.Numbered(p):
		return soon && verifier.LeftBefore(p, r.NakID)
	}
	return soon
}

// rnrNak judges an RNR NAK (rules RC-RNR-006, RC-RSP-018, -019).
func (v *Verifier) rnrNak(c *qp.Pair, from int, p *packet.Packet) {
	end := &c.Ends[from]
	q, r := &c.Ends[1-from].SQ, &end.RQ
	if r.State == qp.RNRNAKed && v.copiedNak(c, from, p) {
		v.Event(c, from, rule.Responder, p, rule.EvDuplicateResponse, "duplicated by the network")
		return
	}
	end.Faults.NAKs++
	end.Faults.RNRNAKs++
	v.Event(c, from, rule.Responder, p, rule.EvRNRNAK, "")
	v.repeatedNak(c, from, p)
	v.Covered(rule.RCRNR005)
	v.Covered(rule.RCRNR006)
	if s := q.History.Get(p.PSN); s != nil && !p.PSN.Before(q.Una) && !countsOwnPSN(q, r, p) { // else RC-RSP-015 says what is wrong
		fn := s.Trace.Opcode.Fn()
		if op := wqe.OpOf(fn); op != wqe.Send && fn != packet.WriteLastImm && fn != packet.WriteOnlyImm {
			v.Report(c, from, p, rule.Verdict{
				Rule: rule.RCRNR006, Class: rule.Proven(c.Complete()), Role: rule.Responder,
				Expected: "an RNR NAK for a request that takes a receive WQE", Actual: "for " + s.Trace.Opcode.String(),
				Evidence: []uint64{packet.FrameNear(p.Frame, s.Frame)},
			})
		}
	}
	if end.Knows(qp.KnowsMinRNRTimer) {
		v.Covered(rule.RCRSP019)
		if have, least := packet.RNRTimer(p.Syndrome.Value()), packet.RNRTimer(end.Attr.MinRNRTimer); have < least {
			v.Report(c, from, p, rule.Verdict{
				Rule: rule.RCRSP019, Class: rule.Violation, Role: rule.Responder, Basis: rule.OnPacket,
				Expected: fmt.Sprintf("at least min_rnr_timer, %v", least), Actual: have.String(),
			})
		}
	}
	// A late one still has a requester wait that lacks the answer to a READ or atomic before it.
	q.WaitTo(rnrWaitEnd(p))
	wait := int64(packet.RNRTimer(p.Syndrome.Value()))
	q.RequireRetransmission(p.PSN, p.Time+wait, p.Time+2*wait+goBackTime)
	if !v.nakPlace(c, from, p, rule.RCRSP018) {
		return
	}
	counted := v.nakMSN(c, from, p)
	rnrs := r.RNRs
	if r.NakPSN != p.PSN {
		rnrs = 0
	}
	v.nak(c, from, p, qp.RNRNAKed)
	if r.CountRNR(rnrs + 1); counted {
		q.MayCross()
		r.Blame()
	}
}

// rnrWaitEnd is until when RNR NAK p may have its requester wait.
func rnrWaitEnd(p *packet.Packet) int64 {
	return p.Time + 2*int64(packet.RNRTimer(p.Syndrome.Value())) + int64(verifier.InFlight)
}

// fatalNak notes a NAK that ends the connection.
func (v *Verifier) fatalNak(c *qp.Pair, from int, p *packet.Packet) {
	end := &c.Ends[from]
	end.Faults.NAKs++
	id := rule.EvNAKRemoteOperational
	switch p.Syndrome {
	case packet.NAKInvalidRequest:
		id = rule.EvNAKInvalidRequest
	case packet.NAKRemoteAccess:
		id = rule.EvNAKRemoteAccess
	}
	v.Event(c, from, rule.Responder, p, id, "")
	v.Covered(rule.RCRSP027)
	if w, _ := c.Ends[1-from].SQ.Messages.Find(p.PSN); w != nil && (w.Op == wqe.Write || w.Op == wqe.Read) {
		v.Covered(rule.RCRSP026)
		if w.Length == 0 && w.Has(wqe.Whole) && p.Syndrome == packet.NAKRemoteAccess {
			v.Report(c, from, p, rule.Verdict{
				Rule: rule.RCRSP026, Class: rule.Proven(c.Complete()), Role: rule.Responder,
				Expected: "no access check for a " + w.Op.String() + " of length 0", Actual: p.Syndrome.String(),
				Evidence: []uint64{packet.FrameNear(p.Frame, w.Frame)},
			})
		}
	}
	if v.nakBeforeRequest(c, from, p) || !v.nakPlace(c, from, p, rule.RCRSP017) {
		return
	}
	counted := v.nakMSN(c, from, p)
	v.nak(c, from, p, qp.Failed)
	if counted {
		c.Ends[1-from].SQ.MayCross()
		end.RQ.Blame()
	}
}

// nakMSN judges the MSN of a NAK (rule RC-RSP-015). It reports whether the MSN is that of an ACK: then this is the ACK of the request with a wrong syndrome, and
// that both ends go on as after an ACK is the same fault.
func (v *Verifier) nakMSN(c *qp.Pair, from int, p *packet.Packet) bool {
	n := len(v.Rec.Findings)
	counted := countsOwnPSN(&c.Ends[1-from].SQ, &c.Ends[from].RQ, p)
	v.msn(c, from, p, 1)
	return counted && v.proves(n, rule.RCRSP015)
}

// proves reports whether a finding after the first n is a violation of a rule.
func (v *Verifier) proves(n int, id rule.ID) bool {
	return slices.ContainsFunc(v.Rec.Findings[n:], func(f rule.Finding) bool { return f.Rule == id && f.Class == rule.Violation })
}

// answeredIn is the frame of the newest request that the responder has answered: it has taken that one from its queue, and maybe none after it.
func answeredIn(q *qp.SendQueue, r *qp.ReceiveQueue) uint32 {
	if !r.Answered {
		if r.LastFrame != r.NakFrame {
			return 0 // it has answered what came before the capture
		}
		return r.LastFrame
	}
	if w, _ := q.Messages.Find(r.LastPSN); w != nil {
		return w.Frame
	}
	if q.IsReordered(r.LastPSN) { // it may have come out of its order: nobody knows which of them was answered
		return 0
	}
	return r.LastFrame
}

// countRefused notes what RNR NAK p refuses: its PSN, and what came after that since the NAK before it.
func countRefused(q *qp.SendQueue, r *qp.ReceiveQueue, p *packet.Packet) {
	since, same, refused := p.Time-int64(verifier.InFlight), r.NakPSN == p.PSN, r.NakCode.Type() == packet.RNRNAK
	if refused || !same { // else what came before the PSN sequence NAK has crossed it
		since = max(since, r.NakTime)
	}
	q.CountRNRCopies(p.PSN, since, min(since, r.LastTime), !same, refused && same && p.Time-r.NakTime < int64(verifier.InFlight))
}

// nak notes what a NAK makes of both sides: all before it is acknowledged, and it is to be retransmitted.
func (v *Verifier) nak(c *qp.Pair, from int, p *packet.Packet, nak qp.Responder) {
	q, r := &c.Ends[1-from].SQ, &c.Ends[from].RQ
	if nak == qp.RNRNAKed && (r.State != qp.RNRNAKed || r.NakPSN != p.PSN) {
		countRefused(q, r, p)
	}
	within := int64(0)
	if nak == qp.SequenceNAKed || nak == qp.RNRNAKed && r.NakPSN != p.PSN { // another NAK answers what came
		within = int64(verifier.InFlight)
	}
	q.Cross(p.PSN, p.Time, answeredIn(q, r), within)
	r.TakeNAK(nak, p)
	if v.Broken && c.Sees(1-from) {
		r.Blame() // a requester drops one that is damaged
	}
	v.nakAcknowledges(c, from, p, nak)
	if nak == qp.RNRNAKed || !c.Sees(from) || !q.HasCrossed() { // else it has come meanwhile, and maybe more after it
		r.Expect(p.PSN)
	}
	q.StartTimer(p.Time)
	if v.Broken || p.Flaws&packet.FlawDiscard != 0 {
		r.Blame() // its requester may have dropped it
		r.LeaveNAKUnprocessed()
	}
}

// nakAcknowledges notes that a NAK acknowledges all before its PSN.
func (v *Verifier) nakAcknowledges(c *qp.Pair, from int, p *packet.Packet, nak qp.Responder) {
	q, r := &c.Ends[1-from].SQ, &c.Ends[from].RQ
	had := q.RequesterUna()
	v.requesterTakes(c, from, p, p.PSN.Add(-1), false)
	if nak == qp.RNRNAKed && c.Sees(1-from) && q.LacksResponse {
		r.LeaveNAKUnprocessed()
	}
	if p.PSN.After(q.Una) {
		q.Acknowledge(p.PSN)
	}
	if nak == qp.SequenceNAKed && (p.PSN.After(had) || !r.Answered && p.PSN.After(q.First)) {
		q.NoteRetryReset(q.Una)
	}
}
