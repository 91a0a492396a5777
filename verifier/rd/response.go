package rd

import (
	"fmt"

	"ibwitness/coverage"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/verifier/stream"
	"ibwitness/wqe"
)

// response judges a response of end from; e is its requester.
func (v *Verifier) response(e *context, c *qp.Pair, from int, p *packet.Packet) {
	if !c.Paired || !e.joined {
		v.Skipped[verifier.SkipUnpaired]++
		return
	}
	v.Covered(rule.RDEEC001)
	if e.message.has(p.PSN) || e.before.has(p.PSN) {
		e.matched = min(e.matched+1, 2)
	}
	switch {
	case e.message.has(p.PSN):
		v.answered(e, c, from, p, &e.message)
	case e.before.has(p.PSN):
		v.answered(e, c, from, p, &e.before)
		if o := e.overlap; o != nil && o.before.first == e.before.first && e.before.acked {
			if p.Time-o.begin.Time < stream.EarlyWindow {
				e.overlap = nil // the two directions are recorded apart
			} else {
				v.overlaps(e, c, 1-from, p.Frame)
			}
		}
	case p.PSN.Before(e.next):
	case e.early == nil:
		e.early = p.Bare()
	}
}

// unseen reports a response to a PSN that was never sent (rule RD-EEC-001).
func (v *Verifier) unseen(e *context, c *qp.Pair, from int) {
	p := e.early
	e.early = nil
	d := rule.Verdict{
		Rule: rule.RDEEC001, Class: rule.Proven(c.Sees(1-from) && e.matched > 1), Role: rule.Responder,
		Expected: "a response to a PSN before " + e.next.String(), Actual: "PSN " + p.PSN.String() + ": no such request in the capture", Detail: verifier.MissedDetail(c, 1-from),
	}
	v.accuse(c, from, p, e.message.destQP, d)
}

// answered judges a response of end from to a message (rules RD-ATM-001, RD-RSY-001, RD-QKEY-001), and notes what it makes of it.
func (v *Verifier) answered(e *context, c *qp.Pair, from int, p *packet.Packet, m *message) {
	v.answeredAs(e, c, from, p, m)
	switch {
	case p.Syndrome.Type() == packet.ACK:
		if e.completes(c, p, m); m.acked {
			v.recovered(e, p, m)
		}
	case p.Syndrome.Type() == packet.RNRNAK:
		if e.waits == nil {
			e.waits = map[uint32]wait{}
		}
		e.waits[m.srcQP] = wait{p.PSN, p.Time, p.Time + int64(packet.RNRTimer(p.Syndrome.Value())), p.Frame}
		e.goesBack(p.PSN, m, true)
		e.paths.Begin(coverage.RNRNAK, p.PSN)
	case p.Syndrome == packet.NAKSequence:
		e.goesBack(p.PSN, m, false)
		e.paths.Begin(coverage.SequenceNAK, p.PSN)
	default:
		e.goesBack(p.PSN, m, true)
	}
}

// answeredAs judges that the kind of a response suits the message that it answers: an atomic, a RESYNC, one whose Q_Key is wrong (rules RD-ATM-001, RD-RSY-001,
// RD-QKEY-001).
func (v *Verifier) answeredAs(e *context, c *qp.Pair, from int, p *packet.Packet, m *message) {
	positive := p.Syndrome.Type() == packet.ACK
	fn := p.Opcode.Fn()
	blame := func(id rule.ID, expected, actual string) { v.wrongResponse(e, c, from, p, m, id, expected, actual) }
	if m.op.Atomic() || fn == packet.AtomicAck {
		v.Covered(rule.RDATM001)
		switch {
		case !m.op.Atomic():
			blame(rule.RDATM001, "an ATOMIC Acknowledge only to an atomic", fmt.Sprintf("%v to %v", p.Opcode, m.name()))
		case positive && fn != packet.AtomicAck:
			blame(rule.RDATM001, "an ATOMIC Acknowledge: it responds to a "+m.op.String(), p.Opcode.String())
		}
	}
	if m.resync {
		v.Covered(rule.RDRSY001)
		if fn != packet.Acknowledge || !positive {
			what := p.Opcode.String()
			if fn == packet.Acknowledge {
				what = p.Syndrome.String()
			}
			blame(rule.RDRSY001, "an Acknowledge of the RESYNC", what)
		}
	}
	if positive && !m.resync && fn != packet.ReadRespMiddle {
		v.Covered(rule.RDQKEY001)
		if m.wrongKey {
			m.wrongKey = false
			blame(rule.RDQKEY001, "NAK Invalid RD Request: the Q_Key is not that of the destination QP", p.Opcode.String())
		}
	}
}

// wrongResponse reports response p of end from to message m.
func (v *Verifier) wrongResponse(e *context, c *qp.Pair, from int, p *packet.Packet, m *message, id rule.ID, expected, actual string) {
	v.accuse(c, from, p, m.destQP, rule.Verdict{
		Rule: id, Class: rule.Proven(c.Complete() && !e.unsure && !m.reused), Role: rule.Responder, Expected: expected, Actual: actual, Evidence: []uint64{m.frame},
	})
}

// completes notes what a positive response makes of its message: the last one acknowledges it.
func (e *context) completes(c *qp.Pair, p *packet.Packet, m *message) {
	in := p.Info()
	if fn := p.Opcode.Fn(); fn == packet.ReadRespFirst || fn == packet.ReadRespMiddle {
		if wqe.ValidMTU(p.PayloadLen) {
			c.LearnPMTU(uint32(p.PayloadLen))
		}
		return
	}
	if p.PSN == m.last && (m.ended || e.open == wqe.None) || in.Last && m.op == wqe.Read || m.op == wqe.Read && in.Only {
		m.acked = true
	}
}

// goesBack notes a NAK: the requester begins again at a PSN, with another message where this one was refused.
func (e *context) goesBack(psn packet.PSN, m *message, refused bool) {
	if m != &e.message {
		return
	}
	e.nak, e.back, e.refused = true, psn, refused
}

// name says what the message is.
func (m *message) name() string {
	if m.resync {
		return "a RESYNC"
	}
	return "a " + m.op.String()
}
