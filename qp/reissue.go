package qp

import (
	"slices"

	"ibwitness/packet"
)

// Issue is a READ request that was retransmitted.
type Issue struct {
	READ, From packet.PSN // PSN of the READ, and the PSN from which it is reissued
	At         int64
}

// mostIssues is how many reissued READs are kept.
const mostIssues = 64

// Reissue notes that the READ at psn read is reissued at time now, from a PSN on.
func (s *SendQueue) Reissue(read, from packet.PSN, now int64) {
	r := s.Lost()
	if len(r.Issues.Pending) == mostIssues {
		r.Issues.Pending = slices.Delete(r.Issues.Pending, 0, 1)
	}
	r.Issues.Pending = append(r.Issues.Pending, Issue{read, from, now})
	s.KeepReissue(read, from)
}

// KeepReissue notes that the READ at psn read was reissued from a PSN on, whatever of it has reached the responder.
func (s *SendQueue) KeepReissue(read, from packet.PSN) {
	if s.EverReissued(read, func(psn packet.PSN) bool { return psn == from }) {
		return
	}
	r := s.Lost()
	if len(r.Issues.Past) == mostIssues {
		r.Issues.Past = slices.Delete(r.Issues.Past, 0, 1)
	}
	r.Issues.Past = append(r.Issues.Past, Issue{READ: read, From: from})
}

// Reissued returns the issues of the READ at psn read whose answers have not begun, oldest first, in into.
func (s *SendQueue) Reissued(read packet.PSN, into []Issue) []Issue {
	if s.Recovery != nil {
		for _, issue := range s.Recovery.Issues.Pending {
			if issue.READ == read {
				into = append(into, issue)
			}
		}
	}
	return into
}

// AnswerIssues drops the n oldest issues of the READ at psn read: the newest of them is being answered, and the others will not be any more.
func (s *SendQueue) AnswerIssues(read packet.PSN, n int) {
	s.Recovery.Issues.Pending = slices.DeleteFunc(s.Recovery.Issues.Pending, func(issue Issue) bool {
		if issue.READ != read {
			return false
		}
		n--
		return n >= 0
	})
}

// ExtendRead notes that a READ was retransmitted and asked for responses up to psn, more than the first time.
func (s *SendQueue) ExtendRead(psn packet.PSN) {
	r := s.Lost()
	r.LongerRead.Put(psn)
}

// MayBeLongerRead reports whether a response at psn may be one that a READ asked for when it was retransmitted, but not the first time.
func (s *SendQueue) MayBeLongerRead(psn packet.PSN) bool {
	return s.Recovery != nil && s.Recovery.LongerRead.Follows(psn)
}

// EverReissued reports whether the READ at psn read was ever reissued from a PSN for which fits holds. What is sent first may arrive last, and
// what arrives once may have been copied on its way.
func (s *SendQueue) EverReissued(read packet.PSN, fits func(from packet.PSN) bool) bool {
	if s.Recovery == nil {
		return false
	}
	return slices.ContainsFunc(s.Recovery.Issues.Past, func(issue Issue) bool { return issue.READ == read && fits(issue.From) })
}

// EverReissuedFrom reports whether any READ was reissued from a PSN.
func (s *SendQueue) EverReissuedFrom(psn packet.PSN) bool {
	return s.Recovery != nil && slices.ContainsFunc(s.Recovery.Issues.Past, func(issue Issue) bool { return issue.From == psn })
}

// MayHaveReissued reports whether the READ at psn read may ever have been reissued from a PSN: it was, or so many were that not all are kept.
func (s *SendQueue) MayHaveReissued(read, from packet.PSN) bool {
	return s.Recovery != nil && (len(s.Recovery.Issues.Past) == mostIssues || s.EverReissued(read, func(psn packet.PSN) bool { return psn == from }))
}

// DropIssues forgets the issues of the READ at psn read: none of them has reached the responder.
func (s *SendQueue) DropIssues(read packet.PSN) {
	if s.Recovery != nil {
		s.Recovery.Issues.Pending = slices.DeleteFunc(s.Recovery.Issues.Pending, func(issue Issue) bool { return issue.READ == read })
	}
}
