package qp

import (
	"ibwitness/packet"
	"ibwitness/wqe"
)

// Copies counts the requests that a requester retransmitted by its timer and that ask for an ACK, and the ACKs that came to them although what they answer was acknowledged by others before: ACKs of
// duplicates carry the newest PSN that their responder has taken, so that they are counted, and not told apart by their PSNs. Where as many ACKs come more than copies ask for, the first copies were
// answered, too.
type Copies struct {
	Rounds    uint32 // of the timer, in which a SEND or WRITE was retransmitted that asks for an ACK
	Asked     uint32 // those that do, in all
	Answered  uint32 // ACKs of duplicates
	Counted   bool   // the newest round is one of Rounds
	FirstSeen bool   // an ACK of what was sent first has come since it began
}

// begin notes that a round begins.
func (c *Copies) begin() { c.Counted, c.FirstSeen = false, false }

// take notes that request p was retransmitted by the timer.
func (c *Copies) take(p *packet.Packet) {
	if !p.AckReq || wqe.OpOf(p.Opcode.Fn()).Responded() {
		return
	}
	if c.Asked++; !c.Counted {
		c.Counted = true
		c.Rounds++
	}
}

// Needless is in how many rounds of the timer at least each request that was retransmitted, and asks for an ACK, had one for each time that it was sent: a round in which one was lost, or the ACK of
// the first, has one less at least. 0: that is not shown.
func (c *Copies) Needless() uint32 {
	if c.Answered > c.Asked {
		return sub32(c.Rounds, c.Answered-c.Asked) // some are not for copies
	}
	return sub32(c.Rounds, c.Asked-c.Answered)
}

func sub32(a, b uint32) uint32 { return a - min(a, b) }

// CopyAnswered notes that an ACK has come that answers a request which came to the responder once more.
func (s *SendQueue) CopyAnswered() {
	if t := s.sender.trouble; t != nil && t.Copies.Asked > 0 {
		t.Copies.Answered++
	}
}

// Acknowledged notes that an ACK has come that acknowledges the PSNs up to psn for the first time. again says that requests have come to the responder more than once: where it acknowledges the newest
// request before its end, which nothing asks for, after what was sent first was answered, it answers such a copy.
func (s *SendQueue) Acknowledged(psn packet.PSN, again bool) {
	t := s.sender.trouble
	if t == nil || t.Copies.Asked == 0 && !t.Now.Active() {
		return
	}
	x := s.History().Get(psn)
	switch asked := x != nil && x.Trace.Flags&packet.TraceAckReq != 0; {
	case asked:
		t.Copies.FirstSeen = true
	case again && x != nil && t.Copies.FirstSeen:
		s.CopyAnswered()
	}
}
