package verifier

import (
	"time"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// Distrust takes back that the tap is near an end of c, and what only that may have proven. why says what speaks against it.
func (v *Verifier) Distrust(c *qp.Pair, why string) {
	if !c.Ends[0].Near && !c.Ends[1].Near {
		return
	}
	c.WithdrawNear()
	for i := range c.Ends {
		if d := c.Ends[i].SQ.ReadDispute(); d != nil {
			for k := range d.Held {
				if f := &d.Held[k]; f.Assumes&rule.AssumesNear != 0 && f.Class == rule.Violation {
					f.Class, f.Detail = rule.Unproven, why
				}
			}
		}
	}
	for i := range c.Ends {
		a, b := &c.Ends[i], &c.Ends[1-i]
		concerns := func(f *rule.Finding) bool { return IsEnd(a, &f.Accused) && IsEnd(b, &f.Peer) } // whose QPNs may have been learned since it was made
		v.Rec.DoubtNear(Endpoint(a), Endpoint(b), concerns, why)
	}
}

// IsEnd reports whether a finding names an end of a connection, as far as the two are known: on RC and UC, no packet names the QP that sent it.
func IsEnd(q *qp.QP, e *rule.Endpoint) bool {
	return e.Addr == q.Addr && (!e.QPNKnown || !q.Numbered || e.QPN == q.Number)
}

// fewCopies is how many copies are no chance any more.
const fewCopies = 3

// Copied notes that p, which end from sent, is a copy that something on the path made, or that it left before the packet recorded before it: at a tap near that
// end it is the capture's doing. A single one may also be a packet that was sent once too often, or have a number by chance.
func (v *Verifier) Copied(c *qp.Pair, from int, p *packet.Packet) {
	if !c.Ends[from].Near {
		return
	}
	if c.Ends[from].CountCopy() == fewCopies {
		v.Distrust(c, "the capture shows packets of this endpoint twice, or reordered: a gap or a repeated packet may be an artifact of the capture")
	}
}

// Unit is in what a capture seems to count time: the greatest power of ten, up to a second, that all of these times are multiples of. What passed
// between two of them may be as much longer.
func Unit(times ...int64) time.Duration {
	u := time.Second
	for _, t := range times {
		for t%int64(u) != 0 {
			u /= 10
		}
	}
	return u
}

// MissedDetail says why something that an endpoint got is not proven.
func MissedDetail(c *qp.Pair, at int) string {
	if c.Sees(at) {
		return ""
	}
	if c.NearWithdrawn[at] {
		return "the tap may have missed packets"
	}
	return "the tap may have missed packets; --near " + c.Ends[at].Addr.String() + " if it is at this endpoint"
}

// LossDetail says why a gap is not proven.
func LossDetail(c *qp.Pair, from int) string {
	return farDetail(c, from, "packets may have been lost before the tap")
}

// farDetail says why a finding about what an end has sent is not proven, as the tap is not known to be near it, and what would prove it; "" where it is.
func farDetail(c *qp.Pair, from int, why string) string {
	switch {
	case c.Sees(from):
		return ""
	case c.NearWithdrawn[from]:
		return why
	}
	return why + "; --near " + c.Ends[from].Addr.String() + " if the tap is at this endpoint"
}

// InFlight is how long after a NAK at the tap packets may still arrive that were sent before the NAK reached the requester, at a tap
// near the requester: its queues.
const InFlight = 100 * time.Microsecond

// CopyTime is how soon after a packet its copy may come that the network made.
const CopyTime = int64(10 * time.Millisecond)
