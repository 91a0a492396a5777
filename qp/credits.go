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

// Grant is the most end-to-end credits that were given.
type Grant struct {
	At    int64  // when a response first gave credits, or did so again, at a tap that does not see when they reach the requester
	Limit uint32 // message number up to which they were given at most, by the responder's count, if By is set
	By    uint32 // MSN of the response that gave them, with GrantedSet
}

// GrantedSet marks Grant.By as set.
const GrantedSet = 1 << 31

// CreditedSince notes when credits were first given at a tap that does not see when they reach the requester.
func (s *SendQueue) CreditedSince(now int64) { s.seldom().Granted.At = now }

// Grant notes the greatest message number that credits were given for, and the MSN of the response that gave them.
func (s *SendQueue) Grant(limit, by uint32) {
	g := &s.seldom().Granted
	g.Limit, g.By = limit&packet.PSNMask, by|GrantedSet
}

// CloseGrant forgets it.
func (s *SendQueue) CloseGrant() {
	if s.Granted.By != 0 {
		s.seldom().Granted.By = 0
	}
}
