package qp

import (
	"ibwitness/packet"
	"ibwitness/rule"
)

// ReadDispute is about the newest READ of a send queue, while its responses are those to another length: the READ is wrong, or they are. The
// request after it shows which.
type ReadDispute struct {
	Next  packet.PSN // after the newest of the responses, which go on in order
	Ended bool       // with a Last or Only
	Held  []rule.Finding
}

// ReadDispute returns the dispute about the newest READ, or nil.
func (s *SendQueue) ReadDispute() *ReadDispute {
	if s.Recovery == nil {
		return nil
	}
	return s.Recovery.ReadDispute
}

// Hold keeps a finding until the request after the READ shows who is wrong.
func (d *ReadDispute) Hold(f rule.Finding) { d.Held = append(d.Held, f) }
