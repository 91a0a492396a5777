package rc

import (
	"ibwitness/coverage"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
)

// sequenceNak judges a NAK PSN sequence error: one a gap, for the expected PSN (rules RC-RSP-002, -003, -017, -043).
func (v *Verifier) sequenceNak(c *qp.Pair, from int, p *packet.Packet) {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	if !v.newNak(c, from, p, qp.SequenceNAKed) {
		return
	}
	q.NoteNAK(p.PSN, p.Time)
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

// takeSequenceNak notes a sequence NAK and judges its MSN. proven says that it was reported, and is, repeated that the PSN was NAKed before, unfounded that it had
// arrived or nothing came after it, mistaken that a packet with a wrong PSN or opcode made it.
func (v *Verifier) takeSequenceNak(c *qp.Pair, from int, p *packet.Packet, proven, repeated, unfounded, mistaken bool) {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	if unfounded = unfounded && countsOwnPSN(q, r, p); !unfounded || !proven { // else the syndrome is what is wrong
		v.msn(c, from, p, 1)
	}
	if repeated && r.State == qp.RNRNAKed { // the wait that the RNR NAK began goes on
		q.RequireOnceMore(p.PSN, p.Time, p.Time+goBackTime)
	} else {
		if !repeated && !unfounded && !proven {
			if q.CountAsked(p.PSN, r.EPSN) {
				lostTail(q, p)
			}
		}
		cameLate(q, r, p, p.PSN)
		q.RequireRetransmission(p.PSN, p.Time, p.Time+goBackTime)
		v.nak(c, from, p, qp.SequenceNAKed)
		if !unfounded && !proven && !v.Broken {
			q.Lost().Paths.Begin(coverage.SequenceNAK, p.PSN)
		}
	}
	if unfounded || mistaken {
		q.MayCross() // the ACK of the request with a wrong syndrome, or a NAK of what was no request: that it goes on so is the same fault
	}
	if proven {
		q.Refute()
		r.BlameNAK()
	}
}

// hadArrived reports whether the request that sequence NAK p asks for had arrived.
func hadArrived(c *qp.Pair, from int, p *packet.Packet) bool {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	return p.PSN.Before(r.EPSN) && c.Sees(from) && !p.PSN.Before(q.Una) && (!q.MayBeRetransmitted(p.PSN) || resumed(q, r, p))
}

// resumed reports whether the responder must have taken the PSN of NAK p, which has come. It has taken what its newest NAK had asked for, as it has
// acknowledged that or p does, and with it all that came before; since then no later PSN came before that of p.
func resumed(q *qp.SendQueue, r *qp.ReceiveQueue, p *packet.Packet) bool {
	return r.NAK.Frame != 0 && packet.Later(q.Una, p.PSN).After(r.NAK.PSN) && !q.HasCrossed() && !q.MayBeReordered(p.PSN)
}

// oldNak counts a PSN sequence NAK for the newest request, the first response of a capture that joined in mid-stream: later ones may have
// arrived before the capture, and the NAK for this one have met it on the way. Nothing follows from it.
func (v *Verifier) oldNak(c *qp.Pair, from int, p *packet.Packet) {
	v.countNak(c, from, p, qp.SequenceNAKed)
}

// noGap reports a PSN sequence NAK although no later PSN had been sent (rule RC-RSP-002).
func (v *Verifier) noGap(c *qp.Pair, from int, p *packet.Packet) {
	v.Covered(rule.RCRSP002)
	if c.IsMisplaced(p.PSN) {
		return // a packet with a wrong PSN or opcode may have seemed later
	}
	if trimNAKed(&c.Ends[1-from].SQ, p.PSN, p.Time) {
		return // a responder that knows trimmed packets asks for each: it needs no later one
	}
	v.Report(c, from, p, rule.Verdict{
		Rule: rule.RCRSP002, Class: rule.Proven(c.Sees(from) && !c.Ends[1-from].SQ.IsReordered(p.PSN)), Role: rule.Responder,
		Expected: "a PSN sequence NAK only when a later PSN has arrived", Actual: "NAK for " + p.PSN.String() + "; no later PSN was sent",
		Detail: verifier.MissedDetail(c, from),
	})
}
