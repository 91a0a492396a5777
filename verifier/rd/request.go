package rd

import (
	"fmt"
	"time"

	"ibwitness/coverage"
	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/verifier/stream"
	"ibwitness/wqe"
)

// request judges a request that end from sent.
func (v *Verifier) request(e *context, c *qp.Pair, from int, p *packet.Packet) {
	in := p.Info()
	resync := p.Opcode.Fn() == packet.Resync
	begins := in.First || in.Only
	if !v.place(e, c, from, p, resync, begins) {
		return
	}
	v.Covered(rule.RDEEC001)
	if begins {
		v.begin(e, c, from, p, resync)
	} else {
		v.middleOrLast(e, c, from, p)
	}
	v.shown(e, c, p)
	e.advance(c, p, resync)
	if (in.First || in.Middle) && wqe.ValidMTU(p.PayloadLen) {
		c.LearnPMTU(uint32(p.PayloadLen))
	}
	if early := e.early; early != nil && e.message.has(early.PSN) {
		e.early = nil
		if p.Time-early.Time < stream.EarlyWindow {
			v.answered(e, c, 1-from, early, &e.message)
		} else {
			e.unsure = true
		}
	}
}

// advance has the next PSN be the one after those that request p takes.
func (e *context) advance(c *qp.Pair, p *packet.Packet, resync bool) {
	e.nak, e.slack = false, 0
	e.next = p.PSN.Add(1)
	if n := c.PSNs(p); n > 1 {
		e.next, e.message.last = p.PSN.Add(n), p.PSN.Add(n-1)
	} else if n == 0 {
		e.slack = wqe.Packets(p.DMALen, 256) - 1
		e.message.last = p.PSN.Add(e.slack)
	}
	if e.high = packet.Later(e.high, e.next); resync || stream.Far(e.high.Diff(e.next)) {
		e.high = e.next
	}
}

// place judges the PSN of a request by its place in the stream of its end-to-end context. It reports whether p belongs there.
func (v *Verifier) place(e *context, c *qp.Pair, from int, p *packet.Packet, resync, begins bool) bool {
	d := p.PSN.Diff(e.next)
	if e.unsure && begins && d < 0 {
		e.joined = false // its place in the stream was not known
	}
	switch {
	case !e.joined:
		e.join(p.PSN, begins)
	case resync:
		e.open, e.unsure = wqe.None, false // it says where the PSNs go on
	case e.message.asksTail(p):
		c.Ends[from].CountRetransmission()
	case d == 0 || d > 0 && d <= e.slack || p.PSN == e.high:
		if e.slack > 0 {
			e.message.last = p.PSN.Add(-1) // so many PSNs did the READ take
		} else if d != 0 {
			e.unsure = true // what is between was copied by the network, or has been lost
		}
	case d > 0:
		v.gap(e, c, from, p, d)
	default:
		return v.retransmitted(e, c, from, p, begins)
	}
	return true
}

// join has the stream of PSNs begin at psn, with a message or within one.
func (e *context) join(psn packet.PSN, begins bool) {
	e.joined, e.unsure, e.open, e.next, e.message, e.before = true, !begins, wqe.None, psn, message{}, message{}
	e.overlap, e.early, e.slack, e.nak, e.refused = nil, nil, 0, false, false
}

// asksTail reports whether p asks for the tail of a READ that has not been answered whole.
func (m *message) asksTail(p *packet.Packet) bool {
	return m.op == wqe.Read && !m.acked && p.Opcode.Fn() == packet.ReadRequest && p.SrcQP == m.srcQP && m.has(p.PSN) && p.PSN != m.first
}

// retransmitted judges a request with a PSN before the next one: it goes back after a NAK, or is of the message that has no response yet. It reports whether p is
// either.
func (v *Verifier) retransmitted(e *context, c *qp.Pair, from int, p *packet.Packet, begins bool) bool {
	switch {
	case e.nak && p.PSN == e.back && (begins || e.message.has(p.PSN)):
		if begins && e.refused && p.PSN != e.message.first {
			e.message.acked = true // abandoned: another message takes the PSN
		}
		e.paths.Retransmitted(p.PSN)
	case e.message.has(p.PSN) && !e.message.acked:
		c.Ends[from].CountRetransmission()
		if !e.paths.Retransmitted(p.PSN) {
			e.paths.Begin(coverage.Timeout, p.PSN)
			e.paths.Retransmitted(p.PSN)
		}
		if begins && p.PSN == e.message.first {
			v.psnReused(e, c, from, p)
		}
	default:
		return false // a copy that the network made, or held back
	}
	return true
}

// psnReused judges that the message which takes the first PSN of an unanswered one once more is the same (rule RD-EEC-001).
func (v *Verifier) psnReused(e *context, c *qp.Pair, from int, p *packet.Packet) {
	if (p.SrcQP != e.message.srcQP || wqe.OpOf(p.Opcode.Fn()) != e.message.op) && !e.refused {
		v.Covered(rule.RDEEC001)
		v.accuse(c, from, p, p.SrcQP, rule.Verdict{
			Rule: rule.RDEEC001, Class: rule.Proven(c.Complete()), Role: rule.Requester,
			Wants: rule.Want(expect.PSN, uint64(e.message.last.Add(1))), Expected: "PSN " + e.message.last.Add(1).String() + " for another message of the end-to-end context", Actual: "PSN " + p.PSN.String() + " again",
			Evidence: []uint64{e.message.frame},
		})
	}
}

// gap judges a PSN beyond the next one (rule RD-EEC-001).
func (v *Verifier) gap(e *context, c *qp.Pair, from int, p *packet.Packet, d int) {
	v.Covered(rule.RDEEC001)
	if m := &v.malformed; m.from != p.Src || m.to != p.Dst || m.psn != e.next {
		v.accuse(c, from, p, p.SrcQP, rule.Verdict{
			Rule: rule.RDEEC001, Class: rule.Proven(c.Sees(from) && !stream.Far(d)), Role: rule.Requester,
			Wants: rule.Want(expect.PSN, uint64(e.next)), Expected: "PSN " + e.next.String() + " of the end-to-end context", Actual: fmt.Sprintf("PSN %v, %d ahead", p.PSN, d), Detail: verifier.LossDetail(c, from),
		})
	}
	e.unsure, e.open = true, wqe.None
	e.message.acked = true // what became of it is not known
	if e.early != nil && e.early.PSN.In(e.next, p.PSN.Add(-1)) {
		e.early = nil // what it answers is what is missing here
	}
}

// begin judges the first packet of a message (rules RD-EEC-002, RD-EEC-003, RD-RSY-001).
func (v *Verifier) begin(e *context, c *qp.Pair, from int, p *packet.Packet, resync bool) {
	in := p.Info()
	m := message{
		op: wqe.OpOf(p.Opcode.Fn()), resync: resync, ended: in.Only, first: p.PSN, last: p.PSN,
		srcQP: p.SrcQP, destQP: p.DestQP, key: p.QKey, frame: p.Frame, at: p.Time, tap: p.Tap, wrongKey: v.wrongKey(p),
	}
	again := e.message.has(p.PSN)
	m.again = again
	m.reused = again && e.refused && m.srcQP != e.message.srcQP
	if w, ok := e.waits[p.SrcQP]; ok && !resync {
		v.duringRNR(e, c, from, p, w)
	}
	if e.overlap != nil && p.Time-e.overlap.begin.Time > stream.EarlyWindow {
		v.overlaps(e, c, from, 0)
	}
	if !again {
		v.another(e, c, p, resync)
		c.Ends[from].CountMessage()
	}
	if resync {
		v.Covered(rule.RDRSY001)
		if p.PayloadLen != 0 {
			v.accuse(c, from, p, p.SrcQP, rule.Verdict{
				Rule: rule.RDRSY001, Class: rule.Violation, Role: rule.Requester, Expected: "no payload in a RESYNC", Actual: fmt.Sprintf("%d bytes", p.PayloadLen),
			})
		}
	}
	if old := &e.message; again && old.first == m.first && old.srcQP == m.srcQP && old.op == m.op {
		m.last, m.ended, m.frame, m.reused = old.last, old.ended, old.frame, old.reused // it is retransmitted
	}
	e.message, e.refused, e.unsure, e.open = m, false, false, wqe.None
	if in.First {
		e.open = m.op
	}
}

// another takes the first packet of another message: the one before it has been acknowledged (rule RD-EEC-002), or shows soon that it had been.
func (v *Verifier) another(e *context, c *qp.Pair, p *packet.Packet, resync bool) {
	if old := &e.message; old.frame != 0 && c.Paired && !resync && !e.unsure {
		v.Covered(rule.RDEEC002)
		if !old.acked && !e.refused && e.overlap == nil {
			e.overlap = &overlap{p.Bare(), *old}
		}
	}
	e.before = e.message
}

// wrongKey reports whether the Q_Key of a request is not that of its destination, where that is known.
func (v *Verifier) wrongKey(p *packet.Packet) bool {
	if v.Attr == nil {
		return false
	}
	a := v.Attr(p.Dst, p.DestQP, p.Src, p.Time)
	return a != nil && a.Has(qp.KnowsQKey) && a.QKey != p.QKey
}

// duringRNR judges that a QP which got an RNR NAK waits (rule RD-EEC-003).
func (v *Verifier) duringRNR(e *context, c *qp.Pair, from int, p *packet.Packet, w wait) {
	delete(e.waits, p.SrcQP)
	v.Covered(rule.RDEEC003)
	timer := w.until - w.at
	if p.Time >= w.until-min(stream.EarlyWindow, timer/2) || p.PSN == w.psn && p.Time-w.at < int64(verifier.InFlight) && !c.Sees(from) {
		return // in time, or in flight together with the NAK
	}
	v.accuse(c, from, p, p.SrcQP, rule.Verdict{
		Rule: rule.RDEEC003, Class: rule.Proven(c.Sees(from)), Role: rule.Requester,
		Expected: fmt.Sprintf("no message of QP 0x%x for %v after the RNR NAK", p.SrcQP, time.Duration(timer)), Actual: fmt.Sprintf("a message after %v", time.Duration(p.Time-w.at)),
		Evidence: []uint64{w.frame},
	})
}

// overlaps reports the message that began too soon (rule RD-EEC-002). response is the frame that acknowledged the one before it, or 0.
func (v *Verifier) overlaps(e *context, c *qp.Pair, from int, response uint64) {
	o := e.overlap
	e.overlap = nil
	d := rule.Verdict{
		Rule: rule.RDEEC002, Class: rule.Proven(c.Complete() && e.matched > 1), Role: rule.Requester,
		Expected: "the response to the message with PSN " + o.before.first.String() + " first", Actual: fmt.Sprintf("%v of QP 0x%x", o.begin.Opcode, o.begin.SrcQP),
		Evidence: []uint64{o.before.frame},
	}
	if response != 0 {
		d.Evidence = append(d.Evidence, response)
	}
	v.accuse(c, from, o.begin, o.begin.SrcQP, d)
}

// middleOrLast judges a Middle or Last packet (rule RD-HDR-003).
func (v *Verifier) middleOrLast(e *context, c *qp.Pair, from int, p *packet.Packet) {
	in, m := p.Info(), &e.message
	if !e.unsure && !e.refused && m.frame != 0 && m.op == wqe.OpOf(p.Opcode.Fn()) && (m.has(p.PSN) || !m.ended && p.PSN == m.last.Add(1)) {
		v.Covered(rule.RDHDR003)
		if p.SrcQP != m.srcQP || p.QKey != m.key || p.DestQP != m.destQP {
			v.accuse(c, from, p, m.srcQP, rule.Verdict{
				Rule: rule.RDHDR003, Class: rule.Proven(c.Complete()), Role: rule.Requester,
				Wants:    rule.Want(expect.SrcQP, uint64(m.srcQP)).And(expect.QKey, uint64(m.key)).And(expect.DestQP, uint64(m.destQP)),
				Expected: fmt.Sprintf("source QP 0x%x, Q_Key 0x%x, destination QP 0x%x of the message", m.srcQP, m.key, m.destQP),
				Actual:   fmt.Sprintf("0x%x, 0x%x, 0x%x", p.SrcQP, p.QKey, p.DestQP), Evidence: []uint64{m.frame},
			})
			e.unsure = true
		}
	}
	if m.frame == 0 {
		*m = message{op: wqe.OpOf(p.Opcode.Fn()), first: p.PSN, srcQP: p.SrcQP, destQP: p.DestQP, key: p.QKey, frame: p.Frame}
	}
	m.last = packet.Later(m.last, p.PSN)
	if m.first.After(p.PSN) {
		m.first = p.PSN
	}
	if in.Last {
		m.ended, e.open = true, wqe.None
	}
}
