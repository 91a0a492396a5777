package qp

import "ibwitness/packet"

// A PSN jump is one or more requests whose PSNs are far from the stream: their requester has jumped there, or the queue pair was connected again.

// ExtendJump adds a request to those that continue from Jump.
func (s *SendQueue) ExtendJump(p *packet.Packet) {
	r := s.Lost()
	if len(r.Jump.Requests) == 0 {
		r.Jump.Requests = append(r.Jump.Requests, *s.Jump)
	}
	r.Jump.Requests = append(r.Jump.Requests, *p)
}

// JumpRequests returns the requests that are far from the stream: Jump, and those that continue from there.
func (s *SendQueue) JumpRequests() []packet.Packet {
	switch {
	case s.Jump == nil:
		return nil
	case s.Recovery == nil || len(s.Recovery.Jump.Requests) == 0:
		return []packet.Packet{*s.Jump}
	}
	return s.Recovery.Jump.Requests
}

// JumpEnd is the greatest PSN of them; there is one.
func (s *SendQueue) JumpEnd() packet.PSN {
	end := s.Jump.PSN
	if s.Recovery != nil {
		for i := range s.Recovery.Jump.Requests {
			if psn := s.Recovery.Jump.Requests[i].PSN; psn.After(end) {
				end = psn
			}
		}
	}
	return end
}

// CloseJump forgets them.
func (s *SendQueue) CloseJump() {
	if s.Jump != nil {
		s.seldom().Jump = nil
	}
	if s.Recovery != nil {
		s.Recovery.Jump.Requests = nil
	}
}
