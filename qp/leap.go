package qp

import "ibwitness/packet"

// LeapOn adds a request to those that go on from Stray.
func (s *SendQueue) LeapOn(p *packet.Packet) {
	r := s.Lost()
	if len(r.Leap) == 0 {
		r.Leap = append(r.Leap, *s.Stray)
	}
	r.Leap = append(r.Leap, *p)
}

// Leap returns the requests that are far from the stream: Stray, and those that go on from there.
func (s *SendQueue) Leap() []packet.Packet {
	switch {
	case s.Stray == nil:
		return nil
	case s.Recovery == nil || len(s.Recovery.Leap) == 0:
		return []packet.Packet{*s.Stray}
	}
	return s.Recovery.Leap
}

// LeapEnd is the greatest PSN of them; there is one.
func (s *SendQueue) LeapEnd() packet.PSN {
	end := s.Stray.PSN
	if s.Recovery != nil {
		for i := range s.Recovery.Leap {
			if psn := s.Recovery.Leap[i].PSN; psn.After(end) {
				end = psn
			}
		}
	}
	return end
}

// Unstray forgets them.
func (s *SendQueue) Unstray() {
	s.Stray = nil
	if s.Recovery != nil {
		s.Recovery.Leap = nil
	}
}
