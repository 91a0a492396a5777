// Package congestion judges congestion control: marks and the congestion notification packets that report them on RoCEv2 (annex A17), FECN and BECN on InfiniBand
// (annex A10), and its management datagrams.
//
// It is the engine's own, without a promise to others.
package congestion

import (
	"ibwitness/packet"
	"ibwitness/verifier"
)

// Verifier judges what the network and the receivers report of congestion. Marks returns where the marks of packets from one address to another are kept.
type Verifier struct {
	*verifier.Verifier
	Marks func(from, to packet.Addr) **Marks
	state state
}

// New returns a verifier of congestion control.
func New(v *verifier.Verifier) *Verifier { return &Verifier{Verifier: v} }
