package rc

import (
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
)

// response is the responder's outgoing verifier: every response is compared with the requests that it answers.
func (v *Verifier) response(c *qp.Pair, from int, p *packet.Packet) {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	switch {
	case !c.Paired:
		v.unpaired(c, from, p)
		return
	case !q.Joined:
		v.Skipped[verifier.SkipUnseen]++
		return
	}
	if r.Duplicate.Time != 0 {
		v.duplicateResponded(c, from)
	}
	if c.PMTU == 0 && !v.copiedResponse(r, p) {
		v.readSize(c, from, p)
	}
	if q.Jump != nil && v.judgeJump(c, 1-from, p) {
		return
	}
	if isOldNak(c, from, p) {
		v.oldNak(c, from, p)
		return
	}
	if acknowledgesEarly(c, from, p) || naksNewest(q, r, p) {
		wait(c, from, p, true)
		return
	}
	if !p.PSN.Before(packet.Later(q.Next, q.High)) {
		v.aheadOfRequests(c, from, p)
		return
	}
	r.CloseUnseen()
	if laterCopy(c, from, p) {
		v.takeLaterCopy(c, from, p)
		return
	}
	v.noteOrder(c, from, p)
	if r.Pending != nil {
		v.pendingAnswered(c, from, p)
	}
	if q.ReportedUnanswered() {
		v.answeredLate(c, from, p)
	}
	v.respond(c, from, p)
	r.Last.Came(p)
}

// noteOrder notes response p where it is a copy of the newest, or left before that.
func (v *Verifier) noteOrder(c *qp.Pair, from int, p *packet.Packet) {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	copied := v.copiedResponse(r, p)
	if !copied && !verifier.LeftBefore(p, r.Last.ID) {
		return
	}
	if copied && (verifier.Numbered(p) || !asksOnceMore(q, r, p)) {
		v.CountCopy(p, p.Time-r.Last.Time)
	}
	v.Copied(c, from, p)
	v.Overtaken(c, from, p, r.Last.ID, packet.FrameNear(p.Frame, r.Last.Frame), r.Last.Time)
}

// asksOnceMore reports whether NAK p is like the newest response since what that asked for was retransmitted: its responder NAKs that too.
func asksOnceMore(q *qp.SendQueue, r *qp.ReceiveQueue, p *packet.Packet) bool {
	return p.Opcode.Fn() == packet.Acknowledge && p.Syndrome.Type() != packet.ACK && q.Last.Time > r.Last.Time && !q.Last.PSN.Before(p.PSN)
}

// unpaired takes a response of a connection whose two directions could not be paired: what it says of itself is kept.
func (v *Verifier) unpaired(c *qp.Pair, from int, p *packet.Packet) {
	v.Skipped[verifier.SkipUnpaired]++
	if from == 1 || p.Syndrome.Type() == packet.RNRNAK {
		c.Both()
	}
	c.Ends[from].NoteLone(p)
	if isSequenceNak(p) {
		v.countNak(c, from, p, qp.SequenceNAKed)
	}
	if p.Syndrome.Type() == packet.RNRNAK {
		c.Ends[1-from].SQ.WaitTo(rnrWaitEnd(p)) // whoever it is
	}
}

// isSequenceNak reports whether p is a NAK PSN sequence error.
func isSequenceNak(p *packet.Packet) bool {
	return p.Opcode.Fn() == packet.Acknowledge && p.Syndrome == packet.NAKSequence
}

// isRNRNak reports whether p is an RNR NAK.
func isRNRNak(p *packet.Packet) bool {
	return p.Opcode.Fn() == packet.Acknowledge && p.Syndrome.Type() == packet.RNRNAK
}

// isOldNak reports whether p is a PSN sequence NAK for the newest request, the first response of a capture that joined in mid-stream (see oldNak).
func isOldNak(c *qp.Pair, from int, p *packet.Packet) bool {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	return (p.PSN == q.First || p.PSN.After(q.First) && p.Time-q.Last.Time < int64(verifier.InFlight)) && !p.PSN.Add(1).Before(q.High) &&
		!r.Last.Positive && r.State == qp.Expecting && isSequenceNak(p) && !c.Ends[1-from].Knows(qp.KnowsSQPSN)
}

// acknowledgesEarly reports whether p acknowledges what its responder has NAKed and nobody has retransmitted yet: the retransmission may be the next request in the capture.
func acknowledgesEarly(c *qp.Pair, from int, p *packet.Packet) bool {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	return (c.Sees(from) || c.NearWithdrawn[from]) && (r.State == qp.SequenceNAKed || r.State == qp.RNRNAKed) && !q.HasCrossed() && !p.PSN.Before(r.NAK.PSN) && p.PSN.Before(q.High) && p.Syndrome.Type() == packet.ACK
}

// naksNewest reports whether p is a PSN sequence NAK for the newest request: the one that has shown the gap may be the next in the capture.
func naksNewest(q *qp.SendQueue, r *qp.ReceiveQueue, p *packet.Packet) bool {
	return isSequenceNak(p) && (r.State == qp.Expecting || r.NAK.PSN != p.PSN) && p.PSN.Before(q.High) && !p.PSN.Add(1).Before(q.High)
}

// aheadOfRequests takes a response to a PSN that was not seen sent: it goes on with the answer to a READ that is in doubt, or waits for its request.
func (v *Verifier) aheadOfRequests(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[1-from].SQ
	if v.disputeContinues(c, from, p) || q.ReadLen != 0 && p.PSN.Diff(q.Next) <= 1<<23 {
		return
	}
	if v.OneClock && c.Sees(1-from) && p.PSN.After(packet.Later(q.Next, q.High)) && !isSequenceNak(p) {
		v.unseenRequest(c, from, p) // its request cannot come later
		return
	}
	if wait(c, from, p, false); len(c.Early()) > mostEarly {
		v.unseenRequest(c, from, &c.Early()[0].Packet)
		c.DropEarly()
	}
}

// respond judges a response to requests that were seen, by its opcode and syndrome.
func (v *Verifier) respond(c *qp.Pair, from int, p *packet.Packet) {
	r := c.RQ(from)
	if c.Ends[1-from].SQ.HasForeign() {
		v.foreignPartition(c, from, p)
	}
	if r.State == qp.Failed && c.Ends[1-from].SQ.HasCrossed() && p.Syndrome.Type() == packet.ACK {
		r.CloseNAK() // it was an ACK with a wrong syndrome: see counts
	}
	if r.State == qp.Failed && !p.PSN.Before(r.NAK.PSN) && !v.copiedResponse(r, p) {
		v.afterFailure(c, from, p)
		return
	}
	if p.Has&p.Info().Headers != p.Info().Headers {
		v.Skipped[verifier.SkipCut]++
		return
	}
	if p.Syndrome.Type() == packet.ACK {
		v.answers(c, &c.Ends[1-from].SQ, p)
		v.duplicateAnswered(c, from, p)
	}
	if c.Ends[1-from].SQ.Gap.Open() && p.Opcode.Fn() != packet.Acknowledge && v.gapResponse(c, from, p) {
		return
	}
	switch fn := p.Opcode.Fn(); fn {
	case packet.Acknowledge:
		v.bySyndrome(c, from, p)
	case packet.AtomicAck:
		v.atomicAck(c, from, p)
	default:
		v.readResponse(c, from, p)
	}
}

// afterFailure judges that nothing follows the NAK with which a responder has ended the connection (rule RC-RSP-027): one finding.
func (v *Verifier) afterFailure(c *qp.Pair, from int, p *packet.Packet) {
	r := c.RQ(from)
	v.Covered(rule.RCRSP027)
	if !r.NAK.Silenced {
		r.Silence()
		d := rule.Verdict{
			Rule: rule.RCRSP027, Class: rule.Proven(c.Complete()), Role: rule.Responder,
			Expected: "no response after " + r.NAK.Code.String(), Actual: p.Opcode.String() + " with " + p.PSN.String(),
			Evidence: []uint64{packet.FrameNear(p.Frame, r.NAK.Frame)},
		}
		if verifier.Numbered(p) && p.IPID == r.NAK.ID && p.Syndrome == r.NAK.Code && p.PSN == r.NAK.PSN {
			d.Class, d.Detail = rule.Unproven, "it has the IPv4 identification of the NAK: a duplicate, if the clock was set in between"
		}
		v.Report(c, from, p, d)
	}
}

// bySyndrome judges an Acknowledge by its syndrome.
func (v *Verifier) bySyndrome(c *qp.Pair, from int, p *packet.Packet) {
	if p.Syndrome.Type() != packet.ACK {
		v.Covered(rule.RCRSP016)
	}
	switch {
	case p.Syndrome.Reserved(), p.Syndrome == packet.NAKInvalidRD: // on RC both are reserved, and a requester ignores them
	case p.Syndrome.Type() == packet.ACK:
		v.acknowledge(c, from, p)
	case p.Syndrome.Type() == packet.RNRNAK:
		v.rnrNak(c, from, p)
	case p.Syndrome == packet.NAKSequence:
		v.sequenceNak(c, from, p)
	default:
		v.fatalNak(c, from, p)
	}
}

// copiedResponse reports whether p is a copy of the newest response that something on the path made.
func (v *Verifier) copiedResponse(r *qp.ReceiveQueue, p *packet.Packet) bool {
	if verifier.Numbered(p) {
		return p.IPID == r.Last.ID && p.ICRC == r.Last.ICRC && p.Time-r.Last.Time < verifier.CopyTime+int64(verifier.Unit(p.Time, r.Last.Time))
	}
	return p.ICRC == r.Last.ICRC && p.ICRC != 0 && p.Time-r.Last.Time < verifier.CopyTime/100
}
