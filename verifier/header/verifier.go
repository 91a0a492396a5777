// Package header judges the bytes of a packet by themselves, and what a queue pair keeps constant in the headers of the packets that it sends: formats, lengths and
// CRCs, addresses, partitions and service levels, and what subnet management has shown of ports.
//
// It is the engine's own, without a promise to others.
package header

import (
	"ibwitness/rule"
	"ibwitness/subnet"
	"ibwitness/verifier"
	"ibwitness/verifier/congestion"
)

// Verifier judges the headers of packets.
type Verifier struct {
	*verifier.Verifier
	// headers counts the packets whose headers were judged, by encapsulation and opcode, for the coverage of the header rules.
	headers [5][256]uint64
	// usual counts the packets that UsualFlow judged, for the coverage of rule ROC-V2-019.
	usual uint64
	// unjudged counts the packets that were not compared with a header rule, as it is one of their source.
	unjudged map[rule.ID]uint64
	tooBig   map[tooBigKey]tooBig
	// Subnet, where not nil, is what management packets have shown of the ports: look there for a port by its LID.
	Subnet     *subnet.Subnet
	congestion *congestion.Verifier
}

// New returns a verifier of headers. g is told of the marks in them.
func New(v *verifier.Verifier, g *congestion.Verifier) *Verifier {
	return &Verifier{Verifier: v, unjudged: map[rule.ID]uint64{}, congestion: g}
}
