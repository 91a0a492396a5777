// Package stream is what requests of RC, XRC and UC have in common: the PSN stream of a requester, the messages in it, and what is far from it. A PSN stream goes on,
// jumps, is joined again after a gap or belongs to a queue pair that was connected again.
//
// It is the engine's own, without a promise to others.
package stream

import (
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/verifier"
	"ibwitness/verifier/congestion"
)

// Acknowledged is what a service that acknowledges does in a stream beside what all do.
type Acknowledged interface {
	// Follow judges a request of end from in its stream, which goes on from one that was far from it.
	Follow(c *qp.Pair, from int, p *packet.Packet)
	// Sized takes how many PSNs, n, the i-th message of end from takes, a READ. p, which may be nil, shows it.
	Sized(c *qp.Pair, from int, p *packet.Packet, i, n int)
}

// Verifier judges what the requests of a service have in common with those of the others.
type Verifier struct {
	*verifier.Verifier
	Congestion *congestion.Verifier
	// OneClock says that the packets of all taps come in the order of one clock, by their last byte.
	OneClock bool
	// Reuse, where not nil, is asked when a packet seems to be of another connection of its QP (see ReusesQP): it reports whether it has verified it as
	// one of another connection.
	Reuse        func(c *qp.Pair, from int, p *packet.Packet) bool
	Accepted     *qp.Accepted // what is known of the R_Keys of messages that are no longer kept
	acknowledged Acknowledged
	spare        *packet.Packet // for the next one whose PSN is far from its stream
	abandoned    bool           // the packet at hand broke off an open message
}

// New returns a verifier for the service a, which is nil where the service does not acknowledge.
func New(v *verifier.Verifier, g *congestion.Verifier, a Acknowledged) Verifier {
	return Verifier{Verifier: v, Congestion: g, Accepted: new(qp.Accepted), acknowledged: a}
}
