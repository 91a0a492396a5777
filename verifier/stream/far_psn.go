package stream

import (
	"slices"

	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/wqe"
)

// Join takes the first packet seen of a requester as the place where its stream is.
func (v *Verifier) Join(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[from].SQ
	q.Join(p.PSN)
	c.RQ(1 - from).Join(p.PSN)
}

// JudgeFarPSN deals with a PSN far from the stream. The QP may have been connected again with another start PSN (then the next packet goes
// on from there), or this one PSN is wrong (then the next packet goes on where the stream was). It reports whether p is in the stream.
func (v *Verifier) JudgeFarPSN(c *qp.Pair, from int, p *packet.Packet, d int, id rule.ID, role rule.Role) bool {
	q := &c.Ends[from].SQ
	if !Far(d) {
		if p.PSN == q.Next && p.Opcode.Fn() == packet.ReadRequest && wqe.Packets(p.DMALen, max(c.PMTU, LeastMTU)) > FarJump {
			v.closeJump(q) // it was lost, and takes the PSNs between
			return true
		}
		v.WrongPSN(c, from, id, role, rule.Proven(c.Complete()), p.Frame)
		if q.ExplainNextGap(); c.Reliable() && p.PSN == q.Next {
			q.NoteLate(p) // the responder may have NAKed what came before it
		}
		c.Misplace(q.Next)
		return true
	}
	if continuesJump(q, p) {
		return v.jumpRequest(c, from, p, id, role)
	}
	if q.Jump != nil { // it is far from both
		v.WrongPSN(c, from, id, role, rule.Proven(c.Sees(from)), p.Frame)
	}
	if q.Fresh && id == rule.RCPSN004 {
		v.Covered(rule.RCPSN001)
		class, detail := StartClass(c, from, p, rule.Proven(c.Sees(from)), verifier.LossDetail(c, from))
		v.Report(c, from, p, rule.Verdict{
			Rule: rule.RCPSN001, Class: class, Role: role,
			Wants: rule.Want(expect.PSN, uint64(q.Next)), Expected: "start PSN " + q.Next.String(), Actual: "PSN " + p.PSN.String(), Detail: detail,
		})
		c.Misplace(q.Next)
		v.Join(c, from, p)
		return true
	}
	if l := q.Recovery; l != nil && l.Jump.NAKed.Set && p.PSN.In(l.Jump.NAKed.PSN, l.Jump.NAKed.PSN.Add(jumpSpan)) {
		q.NAKJump(p.PSN) // it ignores the NAK
		return false
	}
	q.BeginJump(p, v.spare)
	v.spare = nil
	return false
}

// WrongPSN reports the packet whose PSN was far from its stream, when the stream has gone on or the capture has ended. That packet is valid until the next such
// one.
func (v *Verifier) WrongPSN(c *qp.Pair, from int, id rule.ID, role rule.Role, class rule.Class, evidence ...uint64) {
	q := &c.Ends[from].SQ
	v.Covered(id)
	if !v.Surplus(c, from, q.Jump, id, class, role) {
		d := rule.Verdict{Rule: id, Class: class, Role: role, Detail: "far from the expected PSN", Evidence: slices.Clone(evidence)}
		if !v.Full(c, from, &d) {
			d.Wants = rule.Want(expect.PSN, uint64(q.Next))
			d.Expected, d.Actual = "PSN "+q.Next.String(), "PSN "+q.Jump.PSN.String()
		}
		v.Report(c, from, q.Jump, d)
	}
	if q.Jump.PSN.Before(q.Next) {
		c.RQ(1 - from).MayBeDuplicate() // its responder takes it for a duplicate, and acknowledges that
	}
	v.closeJump(q)
}

// closeJump forgets the packet whose PSN was far from its stream.
func (v *Verifier) closeJump(q *qp.SendQueue) {
	if q.Jump != nil {
		v.spare = q.Jump
	}
	q.CloseJump()
}

// FarJump is a PSN distance that no loss explains: the QP was connected again with another start PSN, or the PSN is wrong.
const FarJump = 1 << 15

// Far reports whether a PSN, d ahead of the next one of its stream, is far from that: see FarJump.
func Far(d int) bool { return d > FarJump || d < -FarJump }

// LeastMTU is the least path MTU: no READ of as many bytes takes more than one response, whatever the MTU.
const LeastMTU = 256

// JumpsAtEnd judges, when the capture ends, requests that are far from their stream. id is the rule on the PSN of a request, role who breaks it.
func (v *Verifier) JumpsAtEnd(c *qp.Pair, id rule.ID, role rule.Role) {
	for from := range c.Ends {
		v.jumpAtEnd(c, from, id, role)
	}
}

// Gap takes a packet whose extension headers the snap length cut off: how many PSNs a READ takes, what an AETH says is not known. The requester's stream
// is joined again with its next packet.
func (v *Verifier) Gap(c *qp.Pair, from int, p *packet.Packet) {
	if p.Info().Request {
		c.Ends[from].SQ.Unjoin()
	}
}

// ExpectsPSN reports whether a packet has the PSN of the next request of end from, or of one of its peer's that waits for its answer.
func ExpectsPSN(c *qp.Pair, from int, p *packet.Packet) bool {
	q, other := &c.Ends[from].SQ, &c.Ends[1-from].SQ
	return q.Joined && p.PSN == q.Next || other.Joined && !p.PSN.Before(other.Una) && p.PSN.Before(other.Next)
}

// mostLost is how many packets in a row a capture may have lost at its beginning, so that the first one that it holds has another PSN than the first.
const mostLost = 1 << 16

// StartClass returns the class of a finding that the first request p of end from has another PSN than the start PSN, and its detail, where these are else those given. A requester that begins with the
// start PSN of the other direction has taken what it told its peer for what its peer told it.
func StartClass(c *qp.Pair, from int, p *packet.Packet, class rule.Class, detail string) (rule.Class, string) {
	q, other := &c.Ends[from].SQ, &c.Ends[1-from].SQ
	start := other.First
	if other.Fresh {
		start = other.Next
	}
	if d := p.PSN.Diff(q.Next); !q.Fresh || !other.Joined && !other.Fresh || start != p.PSN || d >= 0 && d < mostLost {
		return class, detail
	}
	return rule.Violation, "that is the start PSN of the other direction: this end begins with the Starting PSN that it told its peer, not with that of its peer"
}
