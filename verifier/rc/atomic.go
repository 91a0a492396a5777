package rc

import (
	"fmt"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/verifier/stream"
	"ibwitness/wqe"
)

// atomicAck compares an ATOMIC Acknowledge with the atomic that it answers (rules RC-RSP-010, -031).
func (v *Verifier) atomicAck(c *qp.Pair, from int, p *packet.Packet) {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	w, _ := q.Messages.Find(p.PSN)
	if (w == nil || w.RespFrame != 0) && v.oldAtomic(c, from, p) {
		return
	}
	if w == nil {
		v.Skipped[verifier.SkipUnseen]++
		v.noteBeforeCapture(c, from, p)
		return
	}
	v.Covered(rule.RCRSP010)
	if w.Has(wqe.Miscounted) || !w.Op.Atomic() && q.IsAltered(p.PSN) {
		return // the atomic had a PSN of a READ, or came as another request first, which was reported
	}
	if !w.Op.Atomic() {
		v.notAtomic(c, from, p, w)
		return
	}
	v.beyondGap(c, from, p, p.PSN)
	v.requesterTakes(c, from, p, p.PSN, true)
	v.misaligned(c, from, p, w)
	v.originalData(c, from, p, w)
	v.Covered(rule.RCRES004)
	if p.Syndrome.Type() != packet.ACK && !p.Syndrome.Reserved() {
		v.Report(c, from, p, rule.Verdict{
			Rule: rule.RCRES004, Class: rule.Violation, Role: rule.Responder,
			Expected: "an ACK syndrome in an ATOMIC Acknowledge", Actual: p.Syndrome.String(),
		})
	}
	if !w.Has(wqe.Answered) {
		w.Flags |= wqe.Answered
		q.ReadDone()
	}
	if q.RdOut > 0 {
		v.judgeOvertaking(c, from, p)
	}
	v.msn(c, from, p, 0)
	if !p.PSN.Before(q.Una) {
		v.progress(c, from, p, p.PSN.Add(1))
	}
	r.ExpectFrom(p.PSN.Add(1))
}

// notAtomic judges an ATOMIC Acknowledge to message w, which is no atomic (rule RC-RSP-010).
func (v *Verifier) notAtomic(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) {
	q := &c.Ends[1-from].SQ
	id, ok := flushRule(w.Op)
	if !ok {
		id = rule.RCRSP010
	} else {
		v.Covered(id)
	}
	if !w.Has(wqe.Blamed) {
		v.Report(c, from, p, rule.Verdict{
			Rule: id, Class: rule.Proven(c.Complete() && !q.IsReordered(p.PSN)), Role: rule.Responder,
			Expected: "an ATOMIC Acknowledge for the PSN of an atomic", Actual: "PSN " + p.PSN.String() + " is a " + w.Op.String(),
			Evidence: []uint64{packet.FrameNear(p.Frame, w.Frame)},
		})
		if w.Op == wqe.Read {
			w.Flags |= wqe.Blamed // one of the response is missing in its place
		}
	}
	if stream.AnswersOldest(q, p, c.Complete() && !q.IsReordered(p.PSN)); !w.Op.Responded() {
		answersForAtomic(q)
	}
}

// originalData compares the original data of an ATOMIC Acknowledge with what the first one to the same atomic returned (rule RC-RSP-031).
func (v *Verifier) originalData(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) {
	orig := fold(p.OrigData)
	if w.RespFrame != 0 {
		v.Covered(rule.RCRSP031)
		if orig != w.Orig() {
			v.Report(c, from, p, rule.Verdict{
				Rule: rule.RCRSP031, Class: rule.Proven(c.Complete()), Role: rule.Responder,
				Expected: "the original data that the first response returned", Actual: fmt.Sprintf("0x%x", p.OrigData),
				Evidence: []uint64{packet.FrameNear(p.Frame, w.RespFrame)},
			})
		}
	}
	w.Return(orig)
	w.RespFrame = uint32(p.Frame)
}

// oldAtomic judges an ATOMIC Acknowledge at the PSN of a request that was answered before, though none was retransmitted (rule RC-RSP-006). It reports whether
// it is proven: then the atomic that waits for its answer has got this one.
func (v *Verifier) oldAtomic(c *qp.Pair, from int, p *packet.Packet) bool {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	if !c.Sees(from) || !r.Last.Positive || !r.MSN.StartKnown || r.DuplicateRequest || !p.PSN.Before(r.Last.PSN) || p.PSN.Before(q.First) || v.copiedResponse(r, p) {
		return false
	}
	v.Covered(rule.RCRSP006)
	v.Report(c, from, p, rule.Verdict{
		Rule: rule.RCRSP006, Class: rule.Violation, Role: rule.Responder,
		Expected: "PSN " + r.Last.PSN.String() + " or later: responses go in PSN order", Actual: "PSN " + p.PSN.String(),
		Evidence: []uint64{packet.FrameNear(p.Frame, r.Last.Frame)},
	})
	answersForAtomic(q)
	return true
}

// answersForAtomic notes that an ATOMIC Acknowledge with a wrong PSN, which is reported, is taken for the response to the oldest atomic that waits.
func answersForAtomic(q *qp.SendQueue) {
	for i := range q.Messages.Len() {
		if w := q.Messages.At(i); w.Op.Responded() && !w.Has(wqe.Answered) && !w.Last.Before(q.Una) {
			if w.Op.Atomic() {
				w.Flags |= wqe.Accused
			}
			return
		}
	}
}

// atomic judges the operands of an atomic (rules RC-ATM-001, -002).
func (v *Verifier) atomic(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) {
	v.Covered(rule.RCATM001)
	if p.VA&7 != 0 {
		w.Flags |= wqe.Blamed
		v.Report(c, from, p, rule.Verdict{
			Rule: rule.RCATM001, Class: rule.Violation, Role: rule.Requester, Basis: rule.OnPacket,
			Expected: "a virtual address on an 8-byte boundary", Actual: fmt.Sprintf("VA 0x%x", p.VA),
		})
	}
	if p.Opcode.Fn() != packet.FetchAdd {
		return
	}
	v.Covered(rule.RCATM002)
	if p.Compare != 0 {
		v.Report(c, from, p, rule.Verdict{
			Rule: rule.RCATM002, Class: rule.Violation, Role: rule.Requester, Basis: rule.OnPacket,
			Expected: "compare data 0 in a FetchAdd", Actual: fmt.Sprintf("0x%x", p.Compare),
		})
	}
}

// fold is what is kept of the original data of an atomic.
func fold(orig uint64) uint32 { return uint32(orig) ^ uint32(orig>>32) }
