package rc

import (
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/verifier/stream"
	"ibwitness/wqe"
)

// Follow judges a request that came far from the stream of end from, and which that goes on from.
func (v *Verifier) Follow(c *qp.Pair, from int, p *packet.Packet) {
	if v.request(c, from, p) {
		v.arrives(c, from, p)
	}
}

// judgeJump judges, by response p, the requests of end from that are far from their stream. It reports whether p is done with: it is compared with them
// as far as they are known.
func (v *Verifier) judgeJump(c *qp.Pair, from int, p *packet.Packet) bool {
	q, r := &c.Ends[from].SQ, c.RQ(1-from)
	if p.Opcode.Fn() == packet.Acknowledge && p.Syndrome == packet.NAKSequence && p.PSN == q.Next && r.State == qp.Expecting {
		c.Ends[1-from].CountNAK(qp.SequenceNAKed)
		v.Event(c, 1-from, rule.Responder, p, rule.EvSeqNAK, "")
		v.nak(c, 1-from, p, qp.SequenceNAKed)
		if c.Sees(from) {
			q.NAKJump(q.JumpEnd())
			v.WrongPSN(c, from, rule.RCPSN004, rule.Requester, rule.Violation, p.Frame)
		}
		return true
	}
	if !p.PSN.In(q.Jump.PSN, q.JumpEnd()) {
		return false
	}
	if stream.ResponseContinuity(c, from, p) != stream.ContinuityUnknown { // where an HCA agent reports the queue pair, it would have reported another connection too
		exact := r.MSN.Degree == qp.MSNKnown && c.Complete() && !q.EverReordered() && jumpMSN(q, r, p) == p.MSN
		v.FollowJump(c, from, rule.RCPSN004, rule.Requester, rule.Proven(exact || c.Sees(from)), p.Frame)
		return false
	}
	v.Skipped[verifier.SkipUnseen]++
	return true
}

// jumpMSN is the MSN of the responder when it has executed everything up to response p, none of which was lost before the tap.
func jumpMSN(q *qp.SendQueue, r *qp.ReceiveQueue, p *packet.Packet) uint32 {
	n := r.MSN.Base + q.Count
	if q.Open != wqe.None {
		n--
	}
	for _, b := range q.JumpRequests() {
		if stream.Executed(&b, p) {
			n++
		}
	}
	return n & packet.PSNMask
}
