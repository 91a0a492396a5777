// Package xrc is the verifier of the extended reliable connection (annex A14): RC between an initiator and a target, with shared receive queues.
//
// It is the engine's own, without a promise to others.
package xrc

import "ibwitness/verifier/rc"

// Verifier judges packets of XRC, as RC judges its requests and responses.
type Verifier struct {
	*rc.Verifier
	pendingREQs map[pendingREQ]bool // REQs for XRC
}

// New returns a verifier of XRC that has r judge what is as on RC.
func New(r *rc.Verifier) *Verifier { return &Verifier{Verifier: r} }
