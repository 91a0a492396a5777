// Package rc is the verifier of the Reliable Connection (chapter 9.7): requests, responses, retransmissions, timers, credits and message sequence numbers.
//
// It is the engine's own, without a promise to others.
package rc

import (
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/verifier"
	"ibwitness/verifier/congestion"
	"ibwitness/verifier/stream"
)

// Verifier judges packets of RC.
type Verifier struct {
	stream.Verifier
	// Latencies, where not nil, takes how long answers take.
	Latencies *verifier.Latencies
	// Unanswered, where not nil, reports whether nothing has come that may answer the requests of a connection whose responses are not known.
	Unanswered func(*qp.Pair) bool
	// LifeAt, where not nil, reports whether a queue pair existed at a time and was not in error, as its events show.
	LifeAt func(a packet.Addr, qpn uint32, at int64) qp.Life
	// Stopped is when the capture last went on after a pause: the host of the tap may have been stopped.
	Stopped int64
	// waitingSince is when the request that is retransmitted was sent, where it asked for an answer: see verifier.Stamp.
	waitingSince uint32
	compared     comparison
	// Uncounted leaves the lengths of messages that the fast path took out of Shown.
	Uncounted bool
	// Left is how many packets the fast path has left.
	Left uint64
	// expected counts the packets that the fast path took, by opcode, for the coverage of the RC rules.
	expected [256]uint64
	runs     runs
}

// New returns a verifier of RC. g is asked of congestion notification packets.
func New(v *verifier.Verifier, g *congestion.Verifier) *Verifier {
	r := new(Verifier)
	r.Verifier = stream.New(v, g, r)
	return r
}
