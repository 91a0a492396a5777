package qp

import (
	"ibwitness/packet"
	"ibwitness/rule"
)

// Doubt is about the newest READ of a send queue, while its responses are those to another length: it is wrong, or they are. The
// request after it tells.
type Doubt struct {
	Next  packet.PSN // after the newest of the responses, which go on in order
	Ended bool       // with a Last or Only
	Held  []rule.Finding
}

// Doubt returns the doubt about the newest READ, or nil.
func (s *SendQueue) Doubt() *Doubt {
	if s.Recovery == nil {
		return nil
	}
	return s.Recovery.Doubt
}

// Hold keeps a finding until the request after the READ tells.
func (d *Doubt) Hold(f rule.Finding) { d.Held = append(d.Held, f) }
