package verifier

import (
	"fmt"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

const flushFormat = "selectivity 0 or 1, placement types 1 and 2, reserved bits 0, no payload"

// oddFlush reports whether the format of a FLUSH is wrong.
func oddFlush(p *packet.Packet) bool {
	return p.FETH>>6 != 0 || p.FETH>>4&3 > 1 || p.FETH&0xF > 3 || p.PayloadLen != 0
}

// rcFlush judges a FLUSH or ATOMIC WRITE (rules FLW-001, FLW-005). A responder refuses one that breaks them, and does not drop it.
func (v *Verifier) rcFlush(c *qp.Pair, from int, p *packet.Packet) {
	d := verdict{rule: rule.FLW005, class: rule.Violation, role: rule.Requester}
	if p.Opcode.Fn() == packet.Flush {
		d.rule, d.expected = rule.FLW001, flushFormat
		if oddFlush(p) {
			d.actual = fmt.Sprintf("FETH 0x%08x and %d bytes of payload", p.FETH, p.PayloadLen)
		}
	} else if d.expected = "8 bytes at an address on an 8-byte boundary, DMALen 8"; p.PayloadLen != 8 || p.DMALen != 8 || p.VA&7 != 0 {
		d.actual = fmt.Sprintf("%d bytes at 0x%x, DMALen %d", p.PayloadLen, p.VA, p.DMALen)
	}
	v.covered(d.rule)
	if d.actual != "" {
		v.report(c, from, p, d)
	}
}

// flushRule is the rule on the response to a FLUSH or ATOMIC WRITE; false where op is neither.
func flushRule(op wqe.Op) (rule.ID, bool) {
	switch op {
	case wqe.Flush:
		return rule.FLW002, true
	case wqe.AtomicWrite:
		return rule.FLW006, true
	}
	return 0, false
}

// rcFlushed judges the READ response to a FLUSH or ATOMIC WRITE: there is one, without payload (rules FLW-002, FLW-006).
func (v *Verifier) rcFlushed(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) {
	id, ok := flushRule(w.Op)
	if !ok {
		return
	}
	v.covered(id)
	if w.Has(wqe.Told) && id == rule.FLW002 {
		v.covered(rule.FLW004)
	}
	if p.Info().Only && p.PayloadLen == 0 {
		return
	}
	v.report(c, from, p, verdict{
		rule: id, class: proven(!c.Ends[1-from].SQ.IsMixed(p.PSN)), role: rule.Responder,
		expected: "RDMA READ Response Only without payload: it is a " + w.Op.String(), actual: fmt.Sprintf("%v with %d bytes", p.Opcode, p.PayloadLen),
		evidence: []uint64{frame(p.Frame, w.Frame)},
	})
}

// rcFlushAgain judges the Acknowledge of a PSN that was acknowledged before: a FLUSH that was retransmitted gets its response again (rule FLW-004).
func (v *Verifier) rcFlushAgain(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[1-from].SQ
	if p.PSN != q.LastPSN {
		return
	}
	w, _ := q.Messages.Find(p.PSN)
	if w == nil || w.Op != wqe.Flush || !w.Has(wqe.Told) || w.Has(wqe.Answered) {
		return
	}
	v.covered(rule.FLW004)
	w.Flags |= wqe.Answered
	q.ReadDone()
	v.report(c, from, p, verdict{
		rule: rule.FLW004, class: rule.Unproven, role: rule.Responder,
		expected: "the response to the duplicate FLUSH", actual: p.Opcode.String(), detail: "it may be an unsolicited response",
		evidence: []uint64{frame(p.Frame, w.Frame)},
	})
}
