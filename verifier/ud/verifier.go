// Package ud is the verifier of datagrams (chapter 9.8.3): their keys and PSNs, those of subnet management, and those to multicast groups.
//
// It is the engine's own, without a promise to others.
package ud

import "ibwitness/verifier"

// Verifier judges packets of UD.
type Verifier struct {
	*verifier.Verifier
	groups        groups
	sent          map[way]*sent
	malformedSMPs map[uint64]malformedSMP // malformed subnet management packets, by their transaction
}

// New returns a verifier of UD.
func New(v *verifier.Verifier) *Verifier { return &Verifier{Verifier: v} }
