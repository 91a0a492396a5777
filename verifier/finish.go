package verifier

import (
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// Stranger reports a packet of another service than that of c (rule BTH-004), and takes it for the one that its sender had to send.
func (v *Verifier) Stranger(c *qp.Pair, p *packet.Packet, class rule.Class, evidence ...uint64) {
	v.wrongService(c, p, class, evidence)
	v.replaces(c, p)
}

// replaces takes a packet that is not of the stream of its sender for the next one of it, where it has its PSN. It reports whether it has.
func (v *Verifier) replaces(c *qp.Pair, p *packet.Packet) bool {
	q := &c.Ends[c.End(p)].SQ
	if !q.Joined || p.PSN != q.Next {
		return false
	}
	q.Excuse()
	c.Misplace(p.PSN)
	return true
}

// Gap takes a packet whose extension headers the snap length cut off: how many PSNs a READ takes, what an AETH says is not known. The requester's stream
// is joined again with its next packet.
func (v *Verifier) Gap(c *qp.Pair, from int, p *packet.Packet) {
	if p.Info().Request {
		c.Ends[from].SQ.Unjoin()
	}
}

// leapsEnd judges, when the capture ends, requests that are far from their stream. id is the rule on the PSN of a request, role who breaks it.
func (v *Verifier) leapsEnd(c *qp.Pair, id rule.ID, role rule.Role) {
	for from := range c.Ends {
		v.leapEnds(c, from, id, role)
	}
}

// ExpectsPSN reports whether a packet has the PSN of the next request of end from, or of one of its peer's that waits for its answer.
func ExpectsPSN(c *qp.Pair, from int, p *packet.Packet) bool {
	q, other := &c.Ends[from].SQ, &c.Ends[1-from].SQ
	return q.Joined && p.PSN == q.Next || other.Joined && !p.PSN.Before(other.Una) && p.PSN.Before(other.Next)
}
