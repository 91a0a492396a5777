package qp

import "ibwitness/packet"

// A requester whose timer ran out retransmits what waits, in order. An ACK of what it has not come to again then answers what it sent first: a responder takes requests in order, so that it had all before
// that, too. Nothing was lost: the answer came later than the timer waited for it.

// ahead reports whether response p, which ends a stall, of one round, is an ACK of what that had not come to.
func (s *SendQueue) ahead(k *Stall, p *packet.Packet) bool {
	t := s.sender.trouble
	if k.Total() != 1 || k.Rounds[TimerExpired] != 1 || !t.Back.Set || k.NAKs > 0 || k.Acked || k.Before || k.Request.Op.Responded() {
		return false
	}
	return p.Opcode.Fn() == packet.Acknowledge && p.Syndrome.Type() == packet.ACK && !p.PSN.Before(t.Back.Next)
}

// AnswersLate reports whether it was shown that the timer of the requester ran out although the answer was on its way.
func (s *SendQueue) AnswersLate() bool {
	t := s.Trouble()
	return t != nil && t.Late.Rounds+t.Late.Ahead > 0
}
