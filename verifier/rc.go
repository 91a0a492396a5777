package verifier

import (
	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// RC judges one RC packet of connection c that end from sent: the outgoing verifier of its sender, then the incoming verifier of
// its receiver.
func (v *Verifier) RC(c *qp.Pair, from int, p *packet.Packet) {
	e, end, peer := &expectations[p.Opcode], &c.Ends[from&1], &c.Ends[^from&1]
	if e.known {
		if v.rcExpectedRequest(c, end, peer, p, e) {
			return
		}
	} else if e.answers != 0 && v.rcExpectedResponse(c, end, peer, p, e) {
		return
	}
	c.Unlean()
	v.rc(c, from, p)
	v.settle(c)
	c.Unlean()
}

// rc judges what the fast path has left.
func (v *Verifier) rc(c *qp.Pair, from int, p *packet.Packet) {
	if v.renews(c, from, p) {
		return
	}
	switch in := p.Info(); {
	case in.Request:
		if v.rcRequest(c, from, p) {
			v.rcArrive(c, from, p)
		}
		if len(c.Early) > 0 {
			v.rcEarly(c, p.Time)
		}
	case in.Response && rcAckOpcode(c, from, p):
		v.rcReserved(c, from, p)
	case in.Response:
		v.rcAnswered(c, from, p)
		v.rcResponse(c, from, p)
	case !in.Defined:
		v.rcReserved(c, from, p)
	}
}

// rcAckOpcode reports whether p is the next packet of the message that its sender has begun, with the opcode of an Acknowledge: that has a payload, which was
// reported.
func rcAckOpcode(c *qp.Pair, from int, p *packet.Packet) bool {
	q := &c.Ends[from].SQ
	return p.PayloadLen > 0 && p.Opcode.Fn() == packet.Acknowledge && q.Joined && q.Open != wqe.None && p.PSN == q.Next
}

// rcRequest is the requester's outgoing verifier: the place of the packet in its PSN stream decides which step judges it. It
// reports whether the packet belongs to the stream.
func (v *Verifier) rcRequest(c *qp.Pair, from int, p *packet.Packet) bool {
	q := &c.Ends[from].SQ
	if d := q.Doubt(); d != nil {
		v.rcResolve(c, from, p, d)
	}
	if !q.Joined {
		v.rcJoin(c, from, p)
	}
	if q.ReadLen != 0 {
		v.rcSettleRead(c, from, p)
	}
	v.rcResent(c, from, p)
	if psn, foreign := q.Foreign(); foreign && psn == p.PSN && !v.broken {
		q.CloseForeign() // it was retransmitted as it should be: nobody has answered it
		v.covered(rule.PKY003)
	}
	d := p.PSN.Diff(q.Next)
	if q.Stray != nil || far(d) {
		if !v.rcStray(c, from, p, d) {
			return false
		}
		d = p.PSN.Diff(q.Next)
	}
	switch {
	case d == 0:
		if c.Missent != nil {
			v.missentAgain(c, from, p)
		}
		v.rcNew(c, from, p)
	case d > 0:
		v.rcAhead(c, from, p)
	default:
		s, retry := q.History.Get(p.PSN), q.Retry
		late := (s == nil || s.Trace.IPID != p.IPID) && v.overtaken(c, from, p, q.LastID, q.LastFrame, q.LastTime)
		v.rcEarlier(c, from, p)
		if late && q.Retrying {
			q.ContinueAt(packet.Later(q.Retry, retry)) // which has come already
		}
	}
	q.Came(p)
	return true
}

// rcJoin takes the first packet seen of a requester as the place where its stream is.
func (v *Verifier) rcJoin(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[from].SQ
	q.Join(p.PSN)
	c.Ends[1-from].RQ.Join(p.PSN)
}

// rcStray deals with a PSN far from the stream of a requester.
func (v *Verifier) rcStray(c *qp.Pair, from int, p *packet.Packet, d int) bool {
	return v.stray(c, from, p, d, rule.RCPSN004, rule.Requester)
}

// stray deals with a PSN far from the stream. The QP may have been connected again with another start PSN (then the next packet goes
// on from there), or this one PSN is wrong (then the next packet goes on where the stream was). It reports whether p is in the stream.
func (v *Verifier) stray(c *qp.Pair, from int, p *packet.Packet, d int, id rule.ID, role rule.Role) bool {
	q := &c.Ends[from].SQ
	if !far(d) {
		if p.PSN == q.Next && p.Opcode.Fn() == packet.ReadRequest && wqe.Packets(p.DMALen, max(c.PMTU, leastMTU)) > farJump {
			q.Unstray() // it was lost, and takes the PSNs between
			return true
		}
		v.wrongPSN(c, from, id, role, rule.Proven(c.Complete()), p.Frame)
		if q.Excuse(); c.Reliable() && p.PSN == q.Next {
			q.CameLate(p) // the responder may have NAKed what came before it
		}
		c.Misplace(q.Next)
		return true
	}
	if confirms(q, p) {
		return v.leapWaits(c, from, p, id, role)
	}
	if q.Stray != nil { // it is far from both
		v.wrongPSN(c, from, id, role, rule.Proven(c.Sees(from)), p.Frame)
	}
	if q.Fresh && id == rule.RCPSN004 {
		v.covered(rule.RCPSN001)
		v.report(c, from, p, rule.Verdict{
			Rule: rule.RCPSN001, Class: rule.Proven(c.Sees(from)), Role: role,
			Wants: rule.Want(expect.PSN, uint64(q.Next)), Expected: "start PSN " + q.Next.String(), Actual: "PSN " + p.PSN.String(), Detail: lossDetail(c, from),
		})
		c.Misplace(q.Next)
		v.rcJoin(c, from, p)
		return true
	}
	if l := q.Recovery; l != nil && l.Leapt && p.PSN.In(l.LeapTo, l.LeapTo.Add(leapNear)) {
		q.LeapRefused(p.PSN) // it does not heed the NAK
		return false
	}
	q.Strays(p, v.spare)
	v.spare = nil
	return false
}

// wrongPSN reports the packet whose PSN was far from its stream, when the stream has gone on or the capture has ended. That packet is valid until the next such
// one.
func (v *Verifier) wrongPSN(c *qp.Pair, from int, id rule.ID, role rule.Role, class rule.Class, evidence ...uint64) {
	q := &c.Ends[from].SQ
	v.covered(id)
	d := rule.Verdict{Rule: id, Class: class, Role: role, Detail: "far from the expected PSN", Evidence: evidence}
	if !v.full(c, from, &d) {
		d.Wants = rule.Want(expect.PSN, uint64(q.Next))
		d.Expected, d.Actual = "PSN "+q.Next.String(), "PSN "+q.Stray.PSN.String()
	}
	v.report(c, from, q.Stray, d)
	if q.Stray.PSN.Before(q.Next) {
		c.Ends[1-from].RQ.MayRepeat() // its responder takes it for a duplicate, and acknowledges that
	}
	v.spare = q.Stray
	q.Unstray()
}

// rcReserved lets a packet with a reserved opcode take its PSN; header rules have reported it.
func (v *Verifier) rcReserved(c *qp.Pair, from int, p *packet.Packet) {
	q, r := &c.Ends[from].SQ, &c.Ends[1-from].RQ
	if q.Joined && p.PSN == q.Next {
		if r.EPSN == q.Next {
			r.Expect(q.Next.Add(1))
		}
		q.Advance(q.Next.Add(1))
		q.DoubtMessage(true)
		r.LoseMSN()
		q.Break()
		q.Excuse() // it may have been a READ, which takes more
		return
	}
	if q.Retrying && p.PSN == q.Retry {
		rcCameAs(c, from, p)
		return
	}
	if w, _ := c.Ends[1-from].SQ.Messages.Find(p.PSN); w != nil && w.Op.Responded() {
		q.Excuse() // the response that will be missing
		w.Flags |= wqe.Accused
	}
	if q.Joined {
		c.Misplace(q.Next) // its receiver may take it for a later request, and ask for the next
	}
}

// rcCameAs notes that a request was retransmitted as p, whose opcode is wrong: what is retransmitted goes on after it, and its responder may have taken it.
func rcCameAs(c *qp.Pair, from int, p *packet.Packet) {
	q, r := &c.Ends[from].SQ, &c.Ends[1-from].RQ
	q.BeginRetransmission(p.PSN.Add(1))
	if w, _ := q.Messages.Find(p.PSN); w != nil && w.Op == wqe.Read {
		q.ContinueAt(w.Last.Add(1))
	}
	if (r.State == qp.RNRNAKed || r.State == qp.SequenceNAKed) && p.PSN == r.NakPSN {
		q.MayCross()
	}
	if q.Gap.Open() && p.PSN == q.Gap.From {
		q.ExplainGap()
	}
}
