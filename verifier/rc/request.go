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

// newRequest judges a request that carries the next PSN: opcode sequence, lengths, then what it adds to the send queue.
func (v *Verifier) newRequest(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[from].SQ
	if q.Fresh {
		q.Begin()
		v.Covered(rule.RCPSN001)
	}
	again := !p.PSN.Before(q.High) && q.GoesBack(p.PSN)
	if q.Sequence.Unsure {
		q.CloseExplanation() // the packet with a fault was no READ that left a gap
	}
	v.Covered(rule.RCPSN002)
	v.Covered(rule.RCPSN004)
	if q.Recovery != nil && q.Recovery.Counted.Set {
		v.openMessageCounted(c, from, p)
	}
	seen := p.PSN.Before(q.High) // after a gap: this PSN, or one after it, was seen before
	v.Sequence(c, from, p, &sequence)
	w := v.Message(c, from, p)
	v.length(c, from, p, w)
	v.limits(c, from, p, w)

	v.takesPSNs(c, from, p, w)
	if !seen && leftOut(q, p) {
		v.Covered(rule.RCRTY006)
		v.Report(c, from, p, rule.Verdict{
			Rule: rule.RCRTY006, Class: rule.Proven(c.Sees(from)), Role: rule.Requester,
			Wants: rule.Want(expect.PSN, uint64(q.Retransmission.Next)), Expected: "PSN " + q.Retransmission.Next.String() + " next: a requester retransmits all later packets in order", Actual: "a new request, PSN " + p.PSN.String(),
		})
	}
	v.shown(c, q, p, w, seen)
	if seen {
		v.seenBefore(c, from, p)
	} else {
		v.unseen(c, from, p, w, again)
	}
	if q.Gap.Open() && p.PSN == q.Gap.From {
		q.FillGap(q.Next)
	}
	q.Advance(q.Next)
	if w.Asked = 0; p.AckReq || w.Op.Responded() {
		wantsAck(q, w, p, seen)
	}
	if !c.Paired && q.Messages.Len() >= unpairedMessages {
		q.AssumeAcknowledged(q.Messages.At(q.Messages.Len() - unpairedMessages/2).First) // no response can show what is still outstanding
	}
	q.EndRetransmission()
	q.History().Put(p.PSN, p.Frame, v.Trace(p), q.High.Diff(q.Una))
}

// wantsAck notes that request p asks for a response to message w. seen says that its PSN was seen before.
func wantsAck(q *qp.SendQueue, w *wqe.SendWQE, p *packet.Packet, seen bool) {
	q.StartTimer(p.Time)
	w.Flags |= wqe.AckWanted
	if !seen {
		w.Asked = verifier.Stamp(p.Time)
	}
}

// takesPSNs has the stream go on after the PSNs that request p of message w takes.
func (v *Verifier) takesPSNs(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) {
	q := &c.Ends[from].SQ
	if w.Op == wqe.Read && (p.Has&p.Info().Headers != p.Info().Headers || p.DMALen > 1<<31) {
		q.Unjoin() // how many PSNs it takes was cut off, or is not what its DMALen says
	}
	n := c.PSNs(p)
	if n == 0 {
		n = 1
		q.AwaitSize(p.DMALen)
		w.Flags |= wqe.Unsized
	}
	q.Expect(p.PSN.Add(n))
	if farFirst(q, p.PSN) {
		q.ForgetBefore(p.PSN.Add(-farAway / 2)) // PSNs come round; nothing as old is retransmitted
	}
	if w.Op == wqe.Read {
		q.EndAt(w, q.Next.Add(-1))
	}
}

// leftOut reports whether a retransmission has not come to all that is outstanding before p, a new request.
func leftOut(q *qp.SendQueue, p *packet.Packet) bool {
	return q.Retransmission.Active && q.Retransmission.ReadLen == 0 && q.Retransmission.Next.Before(p.PSN) && !q.Retransmission.Next.Before(q.Una)
}

// seenBefore takes a request after a gap with a PSN that was seen before: the network has held it back, or it is retransmitted.
func (v *Verifier) seenBefore(c *qp.Pair, from int, p *packet.Packet) {
	if v.Late(c, from, p) {
		if verifier.Numbered(p) {
			v.sprayed(c, from, p)
		}
		v.Distrust(c, "the capture holds packets of this endpoint in another order than they were sent")
		v.Event(c, from, rule.Network, p, rule.EvOutOfOrder, "")
		return
	}
	q := &c.Ends[from].SQ
	shown := q.History().Get(p.PSN) != nil
	second := false
	switch {
	case v.overtaken(c, from, p):
		v.Event(c, from, rule.Network, p, rule.EvOutOfOrder, "")
	case !shown && v.secondOnly(c, from, p):
		second = true
		q.CountFoundBefore(p.PSN)
	default:
		q.EndSpray()
		c.Ends[from].CountRetransmission()
		v.Event(c, from, rule.Requester, p, rule.EvRetransmission, "")
		if !shown {
			q.FilledUp(p.PSN, max(c.PSNs(p), 1))
		} else {
			q.CameAgain(p.PSN)
		}
	}
	if !second && !q.IsOvertaken(p) {
		v.sentAgain(c, from, p, q.Messages.Newest(), 0, shown)
	}
	q.NoteRetransmitted(p)
	if s := q.History().Get(p.PSN); s != nil && !packet.SameContent(p, s.Trace) {
		q.History().Drop(p.PSN) // numbered by a packet that came after the gap with another PSN
	}
}

// farAway is how many PSNs from where the stream was joined no packet is retransmitted.
const farAway = 1 << 22

func farFirst(q *qp.SendQueue, psn packet.PSN) bool {
	return (psn-q.First)&packet.PSNMask > farAway
}

// unpairedMessages is how many messages are kept of a requester whose responses are not known: to pair them by.
const unpairedMessages = 64

// aheadOfNext judges a request beyond the next PSN: packets are missing (rule RC-PSN-004).
func (v *Verifier) aheadOfNext(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[from].SQ
	d, reported := p.PSN.Diff(q.Next), false
	v.silentGap(c, from, p)
	switch {
	case p.PSN == q.High:
		// A late packet filled part of the gap, and the stream goes on where it was.
		q.Reorder()
		reported = c.Sees(from)
	case p.PSN.Before(q.High):
		q.Reorder()
		// Retransmitted after a gap, and one more is missing: the first gap was reported.
		if c.Sees(from) && !q.GapExplained {
			v.Covered(rule.RCRTY006)
			v.Report(c, from, p, rule.Verdict{
				Rule: rule.RCRTY006, Class: rule.Violation, Role: rule.Requester,
				Wants: rule.Want(expect.PSN, uint64(q.Next)), Expected: "PSN " + q.Next.String() + " next: a requester retransmits all later packets in order", Actual: "PSN " + p.PSN.String(),
			})
		}
	case q.GapExplained, q.AllCut(q.Next, p.PSN):
		v.Covered(rule.RCPSN004)
	case c.Misdirected != nil && v.ReportMisdirected(c, from, p, d):
		v.afterMisdirected(c, from, p)
		return
	case d == 1 && v.Congestion.CountedCNP(c, from, p):
		v.Congestion.ReportCounted(c, from, p, rule.Requester)
	case (v.Unordered(c, from) || q.Sprayed() && !c.Sees(from)) && !q.Fresh:
		v.Covered(rule.RCPSN004) // it may be in flight
	default:
		v.gap(c, from, p, d)
		reported = c.Sees(from) // no packet is missing, its PSN is wrong: who acknowledges it has got what was sent
	}
	v.opensGap(c, from, p, (q.GapExplained || reported) && !q.DamagedAt(q.Next))
	v.newRequest(c, from, p)
	guessRead(c, from)
}

// guessRead doubts the length of the newest message, where that is a READ after a gap.
func guessRead(c *qp.Pair, from int) {
	if w := c.Ends[from].SQ.Messages.Newest(); w.Op == wqe.Read && !c.Sees(from) {
		w.Flags |= wqe.Guessed
	}
}

// afterMisdirected has the stream go on at request p: what is missing before it went to another queue pair, which is reported.
func (v *Verifier) afterMisdirected(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[from].SQ
	q.Break()
	if !q.Gap.Open() {
		q.BeginGap(q.Next, p.PSN, true)
	}
	q.LoseMessage()
	q.Advance(p.PSN)
	c.RQ(1 - from).Expect(p.PSN)
	c.RQ(1 - from).MSN.Lose()
	v.newRequest(c, from, p)
}

// opensGap has request p open a gap before it, or widen that. explained says that what is missing there was reported.
func (v *Verifier) opensGap(c *qp.Pair, from int, p *packet.Packet, explained bool) {
	q := &c.Ends[from].SQ
	q.Begin()
	q.CloseExplanation()
	switch {
	case !q.Gap.Open():
		v.countedInGap(c, from)
		switch q.BeginGap(q.Next, p.PSN, explained); {
		case !p.PSN.After(q.High): // what is missing of a retransmission was shown before, or is counted
			q.ShownGap()
		case !explained:
			q.CountMissing(p.PSN.Diff(q.High), p)
		}
	case p.PSN.After(q.High):
		if q.WidenGap(p.PSN); !explained {
			q.CountMissing(p.PSN.Diff(q.High), p)
		}
	}
	q.Break()
	q.LoseMessage()
	q.SizeRead(p.PSN)
}

// limits compares a new request with what its QP may have outstanding.
func (v *Verifier) limits(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) {
	end := &c.Ends[from]
	q := &end.SQ
	if c.Paired {
		v.Covered(rule.RCPSN005)
		if n := p.PSN.Diff(q.Una); n < -stream.FarJump {
			v.Report(c, from, p, rule.Verdict{
				Rule: rule.RCPSN005, Class: rule.Proven(c.Sees(from)), Role: rule.Requester,
				Expected: "fewer than 8388608 PSNs outstanding", Actual: "the oldest unacknowledged is " + q.Una.String(),
			})
			q.AssumeAcknowledged(p.PSN)
		}
	}
	if w.Op.Responded() && p.Info().Only {
		v.readLimit(c, from, p, w)
	}
	if p.Has&packet.HasIETH != 0 {
		c.Invalidate(from, p)
	}
	if c.Invalidated && q.InvRKey != 0 && p.Has&(packet.HasRETH|packet.HasAtomicETH) != 0 {
		v.invalidated(c, from, p)
	}
	switch c.RQ(1 - from).State {
	case qp.RNRNAKed:
		v.duringRNR(c, from, p)
	case qp.Failed:
		v.afterFatal(c, from, p)
	case qp.SequenceNAKed:
		v.requestsAfterNak(c, from, p)
	}
	if q.Credits.Limited && c.Paired && p.Info().Request {
		v.credit(c, from, p, w)
	}
}

// invalidated judges that a request does not name an R_Key that its QP has invalidated (rule RC-INV-001).
func (v *Verifier) invalidated(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[from].SQ
	v.Covered(rule.RCINV001)
	if p.RKey == q.InvRKey {
		v.Report(c, from, p, rule.Verdict{
			Rule: rule.RCINV001, Class: rule.Violation, Role: rule.Requester,
			Expected: "an R_Key that is valid", Actual: fmt.Sprintf("R_Key 0x%x, which a SEND with Invalidate of this QP has invalidated", p.RKey),
		})
		q.Invalidate(0)
	}
}

// unheardFrom is how many packets an end sends at least before it shows that the tap has nothing of its peer: the first ones may all be on their way.
const unheardFrom = 128

// readLimit judges how many READs and atomics are outstanding (rules RC-RDA-001, -002, -003, FLW-008).
func (v *Verifier) readLimit(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) {
	end, peer := &c.Ends[from], &c.Ends[1-from]
	q := &end.SQ
	q.ReadBegins()
	if !c.Paired {
		return
	}
	limit := func(id rule.ID, most uint8, what string) {
		if w.Op == wqe.AtomicWrite {
			id = rule.FLW008
		}
		v.Covered(id)
		if q.RdOut <= uint16(most) {
			q.ExceedReads(false)
			return
		}
		if q.RdOver {
			return
		}
		if q.BoundReads(outstanding(q)); q.RdOut <= uint16(most) {
			return
		}
		q.ExceedReads(true) // one finding, not one for each that follows
		if w.Has(wqe.Blamed) {
			return // its opcode may be wrong
		}
		if most > 0 && end.Packets() >= unheardFrom && unheard(c, 1-from) {
			return
		}
		v.Report(c, from, p, rule.Verdict{
			Rule: id, Class: rule.Proven(most == 0 || c.Sees(from)), Role: rule.Requester,
			Expected: fmt.Sprintf("at most %d READ and ATOMIC requests outstanding (%s)", most, what),
			Actual:   fmt.Sprintf("%d outstanding", q.RdOut),
		})
	}
	if peer.Knows(qp.KnowsMaxDestRdAtomic) {
		id := rule.RCRDA002
		if peer.Attr.MaxDestRdAtomic == 0 {
			id = rule.RCRDA003
		}
		limit(id, peer.Attr.MaxDestRdAtomic, "responder resources of the peer")
	}
	if end.Knows(qp.KnowsMaxRdAtomic) && !(peer.Knows(qp.KnowsMaxDestRdAtomic) && peer.Attr.MaxDestRdAtomic <= end.Attr.MaxRdAtomic) {
		limit(rule.RCRDA001, end.Attr.MaxRdAtomic, "initiator depth")
	}
}

// outstanding counts the READs and atomics that nothing has acknowledged: what RdOut counts may hold some whose answers came in pieces.
func outstanding(q *qp.SendQueue) (n uint16) {
	for i := q.Messages.Len() - 1; i >= 0; i-- {
		w := q.Messages.At(i)
		if w.Last.Before(q.Una) {
			break
		}
		if w.Op.Responded() && !w.Has(wqe.Answered) {
			n++
		}
	}
	return n
}

// creditLimit is the limit that holds for packet p of message w, if it needs credit.
func creditLimit(q *qp.SendQueue, p *packet.Packet, w *wqe.SendWQE) (limit uint32, needs bool) {
	switch in := p.Info(); {
	case w.Op == wqe.Send:
	case p.Has&packet.HasImmDt != 0:
		if !in.Only {
			q.GiveCredits(q.Credits.Limit - 1) // its first packet did not show that it takes a receive
		}
	default:
		if in.First || in.Only {
			q.GiveCredits(q.Credits.Limit + 1) // needs no credit, and uses none up
		}
		return 0, false
	}
	return q.Credits.Limit, true
}

// credit compares SENDs with the end-to-end credits: of the one message beyond the limit the first packet may be sent, with AckReq,
// as a probe (rules RC-CRD-001, -002).
func (v *Verifier) credit(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) {
	in := p.Info()
	q := &c.Ends[from].SQ
	limit, needs := creditLimit(q, p, w)
	if !needs {
		return
	}
	if p.Time-q.Granted.At < int64(verifier.InFlight) && !c.Sees(from) {
		return // it may have left before the credits reached the requester
	}
	peer := &c.Ends[1-from]
	if peer.Knows(qp.KnowsCredits) && !peer.Attr.Credits {
		return // no limit was agreed: its credits, which rule RC-CRD-006 is about, bind nobody
	}
	v.Covered(rule.RCCRD001)
	ssn := (w.Ordinal + 1) & packet.PSNMask
	over := packet.PSN(ssn).Diff(packet.PSN(limit & packet.PSNMask))
	agreed := peer.Knows(qp.KnowsCredits)
	if over == 1 {
		v.Covered(rule.RCCRD002)
		if (in.First || in.Only || w.Op == wqe.Write) && p.AckReq {
			return
		}
		v.Report(c, from, p, rule.Verdict{
			Rule: rule.RCCRD002, Class: rule.Proven(agreed && c.Sees(from)), Role: rule.Requester,
			Expected: "without credits only the first packet of a message, with AckReq", Actual: fmt.Sprintf("%v, AckReq %t", p.Opcode, p.AckReq),
		})
		q.CloseCredits()
		return
	}
	if over <= 0 {
		return
	}
	v.Report(c, from, p, rule.Verdict{
		Rule: rule.RCCRD001, Class: rule.Proven(agreed && c.Sees(from)), Role: rule.Requester,
		Expected: "at most one message beyond the credits", Actual: fmt.Sprintf("message %d beyond the limit", over),
	})
	q.CloseCredits()
}
