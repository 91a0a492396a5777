package rc

import (
	"slices"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/wqe"
)

// newNak reports whether a PSN sequence NAK or RNR NAK, which makes the responder as nak says, is no copy of the newest one, and counts it then.
func (v *Verifier) newNak(c *qp.Pair, from int, p *packet.Packet, nak qp.Responder) bool {
	if c.RQ(from).State == nak && v.copiedNak(c, from, p) {
		v.Event(c, from, rule.Responder, p, rule.EvDuplicateResponse, "duplicated by the network")
		return false
	}
	v.countNak(c, from, p, nak)
	return true
}

// countNak counts a NAK after which the responder is as nak says.
func (v *Verifier) countNak(c *qp.Pair, from int, p *packet.Packet, nak qp.Responder) {
	id := rule.EvSeqNAK
	c.Ends[from].CountNAK(nak)
	switch {
	case nak == qp.SequenceNAKed:
	case nak == qp.RNRNAKed:
		id = rule.EvRNRNAK
	case p.Syndrome == packet.NAKInvalidRequest:
		id = rule.EvNAKInvalidRequest
	case p.Syndrome == packet.NAKRemoteAccess:
		id = rule.EvNAKRemoteAccess
	default:
		id = rule.EvNAKRemoteOperational
	}
	v.Event(c, from, rule.Responder, p, id, "")
}

// nakPlace judges the PSN of a NAK: it is the PSN that the responder expects (rules RC-RSP-017, -018). It reports whether it can be.
func (v *Verifier) nakPlace(c *qp.Pair, from int, p *packet.Packet, id rule.ID) bool {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
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
	if old && (r.Last.Positive || naksUna(q, r)) || known && p.PSN.Before(start) && p.PSN.Before(q.First) {
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
	r := c.RQ(from)
	if r.Last.Positive {
		return int32(uint32(p.Frame)-r.Last.Frame) < 0
	}
	return r.NAK.Time != 0 && !c.Sees(from)
}

// naksUna reports whether the newest response is a NAK: it asks for the oldest request that is not acknowledged.
func naksUna(q *qp.SendQueue, r *qp.ReceiveQueue) bool {
	return !r.Last.Positive && r.NAK.Frame != 0 && r.NAK.PSN == q.Una
}

// nakGoesBack reports a NAK for a PSN that is acknowledged (rule id), or is before start, the start PSN (rule RC-RSP-001).
func (v *Verifier) nakGoesBack(c *qp.Pair, from int, p *packet.Packet, id rule.ID, start packet.PSN) {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	d := rule.Verdict{
		Rule: rule.RCRSP001, Class: rule.Proven(c.Sees(from)), Role: rule.Responder,
		Expected: "a NAK for PSN " + start.String() + " or later: the connection begins there", Actual: "PSN " + p.PSN.String(),
	}
	if before := "a NAK for PSN " + q.Una.String() + " or later: all before it is acknowledged"; r.Last.Positive {
		d.Rule, d.Expected, d.Evidence = id, before, []uint64{packet.FrameNear(p.Frame, r.Last.Frame)}
	} else if naksUna(q, r) {
		d.Rule, d.Expected, d.Evidence = id, before, []uint64{packet.FrameNear(p.Frame, r.NAK.Frame)}
	}
	n, una := len(v.Rec.Findings), q.Una
	v.Report(c, from, p, d)
	if p.Syndrome.Type() == packet.RNRNAK || p.Syndrome == packet.NAKSequence {
		if v.proves(n, id) {
			v.nakForOldest(c, from, p, una)
		}
	}
	if r.Last.Positive && !p.PSN.Before(q.First) && c.Sees(from) {
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
	c.RQ(from).BlameNAK()
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

// countsOwnPSN reports whether the MSN of a response counts the message that ends at its PSN too, as that of an ACK does.
func countsOwnPSN(q *qp.SendQueue, r *qp.ReceiveQueue, p *packet.Packet) bool {
	least, next, epoch, ok := completed(q, p.PSN)
	return ok && next == least && epoch == r.MSN.Epoch && r.MSN.Degree == qp.MSNKnown && (p.MSN-least)&packet.PSNMask == r.MSN.Base
}

// fatalNak notes a NAK that ends the connection.
func (v *Verifier) fatalNak(c *qp.Pair, from int, p *packet.Packet) {
	v.countNak(c, from, p, qp.Failed)
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
	w, _ := c.Ends[1-from].SQ.Messages.Find(p.PSN)
	c.Ends[1-from].SQ.Refuse(c, p, w, c.Ends[from].Number, v.Accepted)
	counted := v.nakMSN(c, from, p)
	v.nak(c, from, p, qp.Failed)
	if counted {
		c.Ends[1-from].SQ.MayCross()
		c.RQ(from).BlameNAK()
	}
}

// nakMSN judges the MSN of a NAK (rule RC-RSP-015). It reports whether the MSN is that of an ACK: then this is the ACK of the request with a wrong syndrome, and
// that both ends go on as after an ACK is the same fault.
func (v *Verifier) nakMSN(c *qp.Pair, from int, p *packet.Packet) bool {
	n := len(v.Rec.Findings)
	counted := countsOwnPSN(&c.Ends[1-from].SQ, c.RQ(from), p)
	v.msn(c, from, p, 1)
	return counted && v.proves(n, rule.RCRSP015)
}

// proves reports whether a finding after the first n is a violation of a rule.
func (v *Verifier) proves(n int, id rule.ID) bool {
	return slices.ContainsFunc(v.Rec.Findings[n:], func(f rule.Finding) bool { return f.Rule == id && f.Class == rule.Violation })
}

// nak notes what a NAK makes of both sides: all before it is acknowledged, and it is to be retransmitted.
func (v *Verifier) nak(c *qp.Pair, from int, p *packet.Packet, nak qp.Responder) {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	if nak == qp.RNRNAKed && (r.State != qp.RNRNAKed || r.NAK.PSN != p.PSN) {
		countRefused(q, r, p)
	}
	within := int64(0)
	if nak == qp.SequenceNAKed || nak == qp.RNRNAKed && r.NAK.PSN != p.PSN { // another NAK answers what came
		within = int64(verifier.InFlight)
	}
	q.Cross(p.PSN, p.Time, answeredIn(q, r), within)
	r.TakeNAK(nak, p)
	if v.Broken && c.Sees(1-from) {
		r.BlameNAK() // a requester drops one that is damaged
	}
	v.nakAcknowledges(c, from, p, nak)
	if nak == qp.RNRNAKed || !c.Sees(from) || !q.HasCrossed() { // else it has come meanwhile, and maybe more after it
		r.Expect(p.PSN)
	}
	q.StartTimer(p.Time)
	if v.Broken || p.Flaws&packet.FlawDiscard != 0 {
		r.BlameNAK() // its requester may have dropped it
		r.LeaveUnprocessed()
	}
}

// nakAcknowledges notes that a NAK acknowledges all before its PSN.
func (v *Verifier) nakAcknowledges(c *qp.Pair, from int, p *packet.Packet, nak qp.Responder) {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	before := q.RequesterUna()
	v.requesterTakes(c, from, p, p.PSN.Add(-1), false)
	if nak == qp.RNRNAKed && c.Sees(1-from) && q.LacksResponse {
		r.LeaveUnprocessed()
	}
	if p.PSN.After(q.Una) {
		q.Acknowledge(p.PSN)
	}
	if nak == qp.SequenceNAKed && (p.PSN.After(before) || !r.Last.Positive && p.PSN.After(q.First)) {
		q.NoteRetryReset(q.Una)
	}
}
