// Package uc is the verifier of the Unreliable Connection (chapter 9.8.2): messages are as on RC, but nothing is acknowledged and nothing is retransmitted.
//
// It is the engine's own, without a promise to others.
package uc

import (
	"ibwitness/verifier"
	"ibwitness/verifier/congestion"
	"ibwitness/verifier/stream"
)

// Verifier judges packets of UC.
type Verifier struct{ stream.Verifier }

// New returns a verifier of UC. g is asked of congestion notification packets.
func New(v *verifier.Verifier, g *congestion.Verifier) *Verifier {
	return &Verifier{stream.New(v, g, nil)}
}
