package rc

import (
	"fmt"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// misaligned judges that a misaligned atomic is refused, not carried out (rule RC-RSP-023). Other faults of a request depend on the path MTU, or
// on what the responder permits.
func (v *Verifier) misaligned(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) {
	v.Covered(rule.RCRSP023)
	if w.VA&7 == 0 || !w.Has(wqe.Whole) || p.Syndrome.Type() != packet.ACK {
		return
	}
	d := rule.Verdict{
		Rule: rule.RCRSP023, Class: rule.Proven(c.Sees(from) && !c.Ends[1-from].SQ.IsReordered(p.PSN)), Role: rule.Responder,
		Expected: fmt.Sprintf("NAK Invalid Request: VA 0x%x is not on an 8-byte boundary", w.VA), Actual: p.Opcode.String(),
		Evidence: []uint64{packet.FrameNear(p.Frame, w.Frame)},
	}
	consequence(c, from, &d)
	v.Report(c, from, p, d)
}

// consequence takes from d, which reports a response of end from to a request that is to be refused or dropped, the proof where the tap saw the request leave, too:
// then it is the fault of its requester, which is reported, and one packet that the capture shows otherwise than it was sent makes both.
func consequence(c *qp.Pair, from int, d *rule.Verdict) {
	if d.Class == rule.Violation && c.Sees(1-from) {
		d.Class, d.Detail = rule.Unproven, "the requester sent it misaligned, which is reported; only the response shows that it arrived so"
	}
}

// nakBeforeRequest judges a NAK Invalid Request for the PSN that a responder waits for and that has not reached it: it has looked at the opcode of a
// later one before its PSN (rule RC-RSP-040). It reports whether that is so.
func (v *Verifier) nakBeforeRequest(c *qp.Pair, from int, p *packet.Packet) bool {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	if !c.Sees(from) || !q.Gap.Open() {
		return false
	}
	v.Covered(rule.RCRSP040)
	if p.Syndrome != packet.NAKInvalidRequest || p.PSN != q.Gap.From || !r.MSN.StartKnown || q.Gap.Explained || q.Gap.Filled || q.GapExplained || q.Damaged() || q.History().Get(p.PSN) != nil {
		return false
	}
	v.Report(c, from, p, rule.Verdict{
		Rule: rule.RCRSP040, Class: rule.Violation, Role: rule.Responder,
		Expected: "NAK PSN Sequence Error: PSN " + p.PSN.String() + " has not arrived", Actual: p.Syndrome.String(), Gap: rule.GapAt(q.Gap.From),
	})
	v.nak(c, from, p, qp.Failed)
	return true
}
