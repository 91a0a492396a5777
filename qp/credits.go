package qp

import "ibwitness/packet"

// Credits are the end-to-end credits of a requester.
type Credits struct {
	Limit   uint32 // message number up to which they allow SENDs, while Limited
	Limited bool
}

// GiveCredits notes that credits allow SENDs up to a message number.
func (s *SendQueue) GiveCredits(limit uint32) {
	s.seldom().Credits = Credits{Limit: limit & packet.PSNMask, Limited: true}
}

// CloseCredits notes that credits limit nothing that is known.
func (s *SendQueue) CloseCredits() {
	if s.Credits.Limited {
		s.seldom().Credits.Limited = false
	}
}
