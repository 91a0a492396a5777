package qp

import (
	"slices"

	"ibwitness/packet"
)

// Issue is a READ request that was retransmitted.
type Issue struct {
	READ, From packet.PSN // PSN of the READ, and the PSN from which it is reissued
	At         int64
	Copied     bool // something on the path has copied it
}

// mostIssues is how many reissued READs are kept.
const mostIssues = 64

// Reissue notes that the READ at psn read is reissued at time now, from a PSN on.
func (s *SendQueue) Reissue(read, from packet.PSN, now int64) {
	r := s.Lost()
	if len(r.Issues.Pending) == mostIssues {
		r.Issues.Pending = slices.Delete(r.Issues.Pending, 0, 1)
	}
	r.Issues.Pending = append(r.Issues.Pending, Issue{READ: read, From: from, At: now})
	s.KeepReissue(read, from)
}

// ReissueCopied is Reissue of a request that something on the path has copied: its responder answers once or twice.
func (s *SendQueue) ReissueCopied(read, from packet.PSN, now int64) {
	only := s.Recovery == nil || s.OnlyCopied(read)
	s.Reissue(read, from, now)
	if i := slices.IndexFunc(s.pastIssues(), func(issue Issue) bool { return issue.READ == read && issue.From == from }); i >= 0 {
		s.Recovery.Issues.Past[i].Copied = only
	}
}

// OnlyCopied reports whether the READ at psn read was not reissued, but something on the path has copied it.
func (s *SendQueue) OnlyCopied(read packet.PSN) bool {
	real := func(issue Issue) bool { return issue.READ == read && !issue.Copied }
	return s.Recovery != nil && len(s.Recovery.Issues.Past) < mostIssues && !slices.ContainsFunc(s.Recovery.Issues.Past, real)
}

// KeepReissue notes that the READ at psn read was reissued from a PSN on, whatever of it has reached the responder.
func (s *SendQueue) KeepReissue(read, from packet.PSN) {
	if i := slices.IndexFunc(s.pastIssues(), func(issue Issue) bool { return issue.READ == read && issue.From == from }); i >= 0 {
		s.Recovery.Issues.Past[i].Copied = false
		return
	}
	r := s.Lost()
	if len(r.Issues.Past) == mostIssues {
		r.Issues.Past = slices.Delete(r.Issues.Past, 0, 1)
	}
	r.Issues.Past = append(r.Issues.Past, Issue{READ: read, From: from})
}

// pastIssues are the READs that were reissued, as far as they are kept.
func (s *SendQueue) pastIssues() []Issue {
	if s.Recovery == nil {
		return nil
	}
	return s.Recovery.Issues.Past
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

// EverReissuedTo reports whether any READ was reissued from a PSN or one before that.
func (s *SendQueue) EverReissuedTo(psn packet.PSN) bool {
	return s.Recovery != nil && slices.ContainsFunc(s.Recovery.Issues.Past, func(issue Issue) bool { return !psn.Before(issue.From) })
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
