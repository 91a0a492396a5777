// Package rd is the verifier of the Reliable Datagram (chapter 9.7, end-to-end contexts): messages of many queue pairs share one PSN stream.
//
// It is the engine's own, without a promise to others.
package rd

import (
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/verifier"
)

// Verifier judges packets of RD.
type Verifier struct {
	*verifier.Verifier
	// Attr, where not nil, returns what is known of a QP that peer sends to, or nil.
	Attr      func(a packet.Addr, qpn uint32, peer packet.Addr, at int64) *qp.Attr
	malformed malformed
}

// New returns a verifier of RD.
func New(v *verifier.Verifier) *Verifier { return &Verifier{Verifier: v} }
