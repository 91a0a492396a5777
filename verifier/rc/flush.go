package rc

import (
	"fmt"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/wqe"
)

// flush judges a FLUSH or ATOMIC WRITE (rules FLW-001, FLW-005). A responder refuses one that breaks them, and does not drop it.
func (v *Verifier) flush(c *qp.Pair, from int, p *packet.Packet) {
	d := rule.Verdict{Rule: rule.FLW005, Class: rule.Violation, Role: rule.Requester}
	if p.Opcode.Fn() == packet.Flush {
		d.Rule, d.Expected = rule.FLW001, verifier.FlushFormat
		if verifier.OddFlush(p) {
			d.Actual = fmt.Sprintf("FETH 0x%08x and %d bytes of payload", p.FETH, p.PayloadLen)
		}
	} else if d.Expected = "8 bytes at an address on an 8-byte boundary, DMALen 8"; p.PayloadLen != 8 || p.DMALen != 8 || p.VA&7 != 0 {
		d.Actual = fmt.Sprintf("%d bytes at 0x%x, DMALen %d", p.PayloadLen, p.VA, p.DMALen)
	}
	v.Covered(d.Rule)
	if d.Actual != "" {
		v.Report(c, from, p, d)
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

// flushed judges the READ response to a FLUSH or ATOMIC WRITE: there is one, without payload (rules FLW-002, FLW-006).
func (v *Verifier) flushed(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) {
	id, ok := flushRule(w.Op)
	if !ok {
		return
	}
	v.Covered(id)
	if w.Has(wqe.Told) && id == rule.FLW002 {
		v.Covered(rule.FLW004)
	}
	if p.Info().Only && p.PayloadLen == 0 {
		return
	}
	v.Report(c, from, p, rule.Verdict{
		Rule: id, Class: rule.Proven(!c.Ends[1-from].SQ.IsReordered(p.PSN)), Role: rule.Responder,
		Expected: "RDMA READ Response Only without payload: it is a " + w.Op.String(), Actual: fmt.Sprintf("%v with %d bytes", p.Opcode, p.PayloadLen),
		Evidence: []uint64{packet.FrameNear(p.Frame, w.Frame)},
	})
}

// duplicateFlush judges the Acknowledge of a PSN that was acknowledged before: a FLUSH that was retransmitted gets its response again (rule FLW-004).
func (v *Verifier) duplicateFlush(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[1-from].SQ
	if p.PSN != q.Last.PSN {
		return
	}
	w, _ := q.Messages.Find(p.PSN)
	if w == nil || w.Op != wqe.Flush || !w.Has(wqe.Told) || w.Has(wqe.Answered) {
		return
	}
	v.Covered(rule.FLW004)
	w.Flags |= wqe.Answered
	q.ReadDone()
	v.Report(c, from, p, rule.Verdict{
		Rule: rule.FLW004, Class: rule.Unproven, Role: rule.Responder,
		Expected: "the response to the duplicate FLUSH", Actual: p.Opcode.String(), Detail: "it may be an unsolicited response",
		Evidence: []uint64{packet.FrameNear(p.Frame, w.Frame)},
	})
}
