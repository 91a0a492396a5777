package qp

import (
	"ibwitness/packet"
	"ibwitness/wqe"
)

// Stalled reports whether a stall is there that a response may end.
func (s *SendQueue) Stalled() bool {
	t := s.sender.trouble
	return t != nil && t.Now.Active()
}

// StillStalled reports whether the request of the newest stall still waits for its response. Where responses are not known, a requester that has sent something new since
// had one.
func (s *SendQueue) StillStalled(paired bool) bool {
	if !s.Stalled() {
		return false
	}
	k := &s.sender.trouble.Now
	return !s.passed(k) && (paired || k.NAKs > 0 || s.High == k.High || s.endsWithRound(k)) && (!k.Skipped || s.stillLacks(k))
}

// oftenSkipped is how many rounds of a READ or atomic show that its response does not come to its requester, and is not only missing in the capture.
const oftenSkipped = 3

// stillLacks reports whether the requester still lacks the response to the READ or atomic of stall k, where later requests were answered: it was retransmitted often, and nothing new was sent long after that.
func (s *SendQueue) stillLacks(k *Stall) bool {
	n := int64(k.Total())
	return n >= oftenSkipped && (s.High == k.High || s.Last.Time-k.Last < 2*(k.Last-k.Since)/n)
}

// endsWithRound reports whether a requester, none of whose answers is known, sent all that is new since stall k, of the first request that the capture holds, with a round of it: it was
// retransmitted often, and nothing was sent long after the last round.
func (s *SendQueue) endsWithRound(k *Stall) bool {
	n := int64(k.Rounds[TimerExpired])
	return n >= oftenSkipped && uint64(n) == k.Total() && !k.Later && k.Request.PSN == s.First && s.Last.Time-k.Last < (k.Last-k.Since)/n
}

// Progress ends the stall where response p has answered its request. pmtu is the path MTU, bytes; 0: it is not known.
func (s *SendQueue) Progress(p *packet.Packet, pmtu uint32) {
	t := s.sender.trouble
	k := &t.Now
	switch w, _ := s.Messages.Find(k.Request.PSN); {
	case s.passed(k), w == nil && k.PassedOver != 0 && k.answeredBy(p, pmtu):
		k.Ended, k.Frames.Ended, k.Skipped = p.Time, p.Frame, false
		t.PeerSilent = k.sentNothing(t.PeerID, s.Last.PSN, p)
		t.AckAhead = s.ahead(k, p)
		k.LostAgain = p.Opcode.Fn() == packet.Acknowledge && p.Syndrome == packet.NAKSequence && p.PSN.After(k.Request.PSN)
		t.over()
		return
	case !k.Skipped && s.skips(k, w, p):
		k.Ended, k.Frames.Ended, k.Skipped = p.Time, p.Frame, true
		if k.PassedOver == 0 {
			k.PassedOver = uint32(p.Frame)
		}
		return
	}
	if p.Info().Response && k.Request.Op == wqe.Read && p.Opcode.Fn() != packet.Acknowledge {
		if w, _ := s.Messages.Find(p.PSN); w != nil && w.First == k.Request.First {
			k.Part = max(k.Part, uint32(p.PayloadLen))
		}
	}
}

// passed reports whether the request of a stall has been answered, as far as is known: one that is forgotten has not, if it was passed over.
func (s *SendQueue) passed(k *Stall) bool {
	if !s.Una.After(k.Request.PSN) {
		return false
	}
	w, _ := s.Messages.Find(k.Request.PSN)
	if w == nil {
		return k.PassedOver == 0
	}
	return !w.Op.Responded() || w.Has(wqe.Answered) && w.AnswerCame(w.Last)
}

// skips reports whether response p, to a later request than that of stall k, has passed that over, which is message w; nil: it is forgotten.
func (s *SendQueue) skips(k *Stall, w *wqe.SendWQE, p *packet.Packet) bool {
	return s.Una.After(k.Request.PSN) && (w == nil && p.Info().Response && p.PSN.After(k.Request.PSN) || w != nil && w.Has(wqe.Answered))
}

// answeredBy reports whether p is the last response to the READ or atomic of a stall, as far as its PSN tells.
func (k *Stall) answeredBy(p *packet.Packet, pmtu uint32) bool {
	in, n := p.Info(), wqe.Packets(k.Request.Length, max(pmtu, 256))
	if !in.Response || p.Opcode.Fn() == packet.Acknowledge || !in.Last && !in.Only {
		return false
	}
	return p.PSN == k.Request.First.Add(n-1) || pmtu == 0 && p.PSN.In(k.Request.First, k.Request.First.Add(n-1))
}

// PassesOver reports whether the requester still lacks the response to its request with a PSN, which is forgotten, as responses to later ones passed it over.
func (s *SendQueue) PassesOver(psn packet.PSN) bool {
	t := s.sender.trouble
	return t != nil && t.Now.PassedOver != 0 && t.Now.Request.PSN == psn
}
