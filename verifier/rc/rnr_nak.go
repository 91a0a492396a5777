package rc

import (
	"fmt"

	"ibwitness/coverage"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/wqe"
)

// rnrNak judges an RNR NAK (rules RC-RNR-006, RC-RSP-018, -019).
func (v *Verifier) rnrNak(c *qp.Pair, from int, p *packet.Packet) {
	end := &c.Ends[from]
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	if !v.newNak(c, from, p, qp.RNRNAKed) {
		return
	}
	refuses(c, from, p)
	v.repeatedNak(c, from, p)
	v.Covered(rule.RCRNR005)
	v.Covered(rule.RCRNR006)
	if s := q.History().Get(p.PSN); s != nil && !p.PSN.Before(q.Una) && !countsOwnPSN(q, r, p) { // else RC-RSP-015 says what is wrong
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
	rnrs := r.NAK.RNRs
	if r.NAK.PSN != p.PSN {
		rnrs = 0
	}
	v.nak(c, from, p, qp.RNRNAKed)
	if !counted && !v.Broken {
		q.Lost().Paths.Begin(coverage.RNRNAK, p.PSN)
	}
	if r.CountRNRs(rnrs + 1); counted {
		q.MayCross()
		r.BlameNAK()
	}
}

// rnrWaitEnd is until when RNR NAK p may have its requester wait.
func rnrWaitEnd(p *packet.Packet) int64 {
	return p.Time + 2*int64(packet.RNRTimer(p.Syndrome.Value())) + int64(verifier.InFlight)
}

// answeredIn is the frame of the newest request that the responder has answered: it has taken that one from its queue, and maybe none after it.
func answeredIn(q *qp.SendQueue, r *qp.ReceiveQueue) uint32 {
	if !r.Last.Positive {
		if r.Last.Frame != r.NAK.Frame {
			return 0 // it has answered what came before the capture
		}
		if q.Recovery != nil {
			return q.Recovery.NAK.Answered // which request the NAK answers is not certain
		}
		return r.Last.Frame
	}
	if w, _ := q.Messages.Find(r.Last.PSN); w != nil {
		return w.Frame
	}
	if q.IsReordered(r.Last.PSN) { // it may have come out of its order: nobody knows which of them was answered
		return 0
	}
	return r.Last.Frame
}

// countRefused notes what RNR NAK p refuses: its PSN, and what came after that since the NAK before it.
func countRefused(q *qp.SendQueue, r *qp.ReceiveQueue, p *packet.Packet) {
	since, same, refused := p.Time-int64(verifier.InFlight), r.NAK.PSN == p.PSN, r.NAK.Code.Type() == packet.RNRNAK
	if refused || !same { // else what came before the PSN sequence NAK has crossed it
		since = max(since, r.NAK.Time)
	}
	q.CountRNRCopies(p.PSN, since, min(since, r.Last.Time), !same, refused && same && p.Time-r.NAK.Time < int64(verifier.InFlight))
}
