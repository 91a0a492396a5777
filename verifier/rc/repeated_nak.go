package rc

import (
	"time"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
)

// copiedNak reports whether p is a copy of the newest NAK that something on the path made. An earlier response may come between the two.
func (v *Verifier) copiedNak(c *qp.Pair, from int, p *packet.Packet) bool {
	r := c.RQ(from)
	if r.NAK.PSN != p.PSN {
		return false
	}
	return v.copiedResponse(r, p) || !c.Sees(from) && verifier.Numbered(p) && p.IPID == r.NAK.ID && p.Syndrome == r.NAK.Code && p.Time-r.NAK.Time < verifier.CopyTime
}

// repeatedNak judges that a PSN is NAKed once until it is retransmitted (rules RC-RSP-003, -043). It reports whether it was NAKed before.
func (v *Verifier) repeatedNak(c *qp.Pair, from int, p *packet.Packet) bool {
	r := c.RQ(from)
	v.Covered(rule.RCRSP003)
	v.Covered(rule.RCRSP043)
	if r.NAK.PSN != p.PSN || r.State != qp.SequenceNAKed && r.State != qp.RNRNAKed {
		return false
	}
	q := &c.Ends[1-from].SQ
	if q.HasCrossed() && (r.State == qp.SequenceNAKed || p.Syndrome.Type() == packet.RNRNAK) {
		return false
	}
	again := r.State == qp.RNRNAKed && p.Syndrome.Type() == packet.RNRNAK && p.Time-r.NAK.Time < int64(verifier.InFlight)
	if again && q.TakeRNRCopy() {
		return false
	}
	if r.State == qp.SequenceNAKed && isSequenceNak(p) && trimNAKed(q, p.PSN, r.NAK.Time) {
		return true
	}
	id, was := rule.RCRSP003, "one PSN sequence NAK until the expected PSN arrives"
	if r.State == qp.RNRNAKed {
		id, was = rule.RCRSP043, "no further NAK after the RNR NAK until this PSN is retransmitted"
	}
	d := rule.Verdict{
		Rule: id, Class: rule.Proven(c.Sees(from) || c.Complete() && !nakCrossed(q, r, p)), Role: rule.Responder,
		Expected: was, Actual: p.Syndrome.String() + " for " + p.PSN.String(), Evidence: []uint64{packet.FrameNear(p.Frame, r.NAK.Frame)},
	}
	if d.Class == rule.Unproven {
		d.Detail = "the tap may have missed a retransmission; after the tap, the request may have been delayed or duplicated; before the tap, the NAKs may have been reordered"
	}
	v.Report(c, from, p, d)
	return true
}

// trimNAKed reports whether a sequence NAK may answer a request at its PSN or later that a switch has trimmed, and that came after a time or was on its way to the responder then.
func trimNAKed(q *qp.SendQueue, psn packet.PSN, since int64) bool {
	return q.CutAfter(psn, since-int64(verifier.InFlight))
}

// nakCrossed reports whether what the network does, elsewhere than near the responder, explains a second NAK for a PSN that was not retransmitted: a
// copy of the request or of the NAK, a request that arrived after the next one, NAKs that changed places; or a single frame that the tap missed,
// the request that a PSN sequence NAK has asked for.
func nakCrossed(q *qp.SendQueue, r *qp.ReceiveQueue, p *packet.Packet) bool {
	took := time.Duration(p.Time - r.NAK.Time)
	soon := took < verifier.InFlight
	switch again := p.Syndrome.Type() == packet.RNRNAK; {
	case r.State == qp.SequenceNAKed && !again: // once the PSN has come there is no reason for another
		return soon && !verifier.Numbered(p)
	case r.State == qp.SequenceNAKed, max(took, 0)+max(verifier.InFlight, verifier.Unit(p.Time, r.NAK.Time, r.Last.Time, q.Last.Time)) >= packet.RNRTimer(r.NAK.Code.Value()):
		return true // the wait may be over, and the request on its way: the directions are not ordered more exactly
	case !again && verifier.Numbered(p):
		return soon && verifier.LeftBefore(p, r.NAK.ID)
	}
	return soon
}
