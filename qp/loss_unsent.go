package qp

import "ibwitness/packet"

// Whether a responder has sent an answer which was lost before the tap its IPv4 identifications show, which count on with each packet that it sends: where the answer to a copy follows the packet
// that the tap had seen of it before the first one, it has sent none between.

// soonAfterCopy is in which part of the time that a request waited before it, one in so many, its newest copy is answered at most where it was that which the responder had lacked.
const soonAfterCopy = 4

// NoteNewestOfPeer notes, where the timer has begun the first round of the newest stall, the IPv4 identification of the newest packet that the tap had seen of the responder.
func (s *SendQueue) NoteNewestOfPeer(id uint16) {
	if t := s.trouble(); t.Now.Total() == 1 {
		t.PeerID = id
	}
}

// sentNothing reports whether p, which ends a stall, is the first packet of the responder since the one with the IPv4 identification before, which came before that was first retransmitted, and answers the newest copy,
// of which newest was sent last: it does not where it acknowledges what comes after that. Of READs and atomics it is not
// counted
// whether each copy is answered, as it is where the answer was only late.
func (k *Stall) sentNothing(before uint16, newest packet.PSN, p *packet.Packet) bool {
	if before == 0 || k.Request.Op.Responded() || p.Encap != packet.RoCEv2IPv4 || p.IPID != before+1 || !p.Info().Response || p.PSN.After(newest) {
		return false
	}
	return k.Total() == uint64(k.Rounds[TimerExpired]) && k.Unseen == 0 && !k.Acked && k.PassedOver == 0 && soonAfterCopy*(p.Time-k.Last) <= k.Last-k.Since
}
