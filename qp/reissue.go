package qp

import (
	"slices"

	"ibwitness/packet"
)

// Issue is a READ request that was retransmitted.
type Issue struct {
	READ, From packet.PSN // PSN of the READ, and the one that is asked for now
	At         int64
}

// mostIssues is how many READs asked for again are kept.
const mostIssues = 64

// Reissue notes that the READ at psn read is asked for again at time now, from a PSN on.
func (s *SendQueue) Reissue(read, from packet.PSN, now int64) {
	r := s.Lost()
	if len(r.Issues) == mostIssues {
		r.Issues = slices.Delete(r.Issues, 0, 1)
	}
	r.Issues = append(r.Issues, Issue{read, from, now})
	s.AskedFrom(read, from)
}

// AskedFrom notes that the READ at psn read was asked for again from a PSN on, whatever the responder has taken of it.
func (s *SendQueue) AskedFrom(read, from packet.PSN) {
	if s.Asked(read, func(psn packet.PSN) bool { return psn == from }) {
		return
	}
	r := s.Lost()
	if len(r.Past) == mostIssues {
		r.Past = slices.Delete(r.Past, 0, 1)
	}
	r.Past = append(r.Past, Issue{READ: read, From: from})
}

// Reissued returns the issues of the READ at psn read whose answers have not begun, oldest first, in into.
func (s *SendQueue) Reissued(read packet.PSN, into []Issue) []Issue {
	if s.Recovery != nil {
		for _, issue := range s.Recovery.Issues {
			if issue.READ == read {
				into = append(into, issue)
			}
		}
	}
	return into
}

// Answering drops the n oldest issues of the READ at psn read: the newest of them is being answered, and the others will not be any more.
func (s *SendQueue) Answering(read packet.PSN, n int) {
	s.Recovery.Issues = slices.DeleteFunc(s.Recovery.Issues, func(issue Issue) bool {
		if issue.READ != read {
			return false
		}
		n--
		return n >= 0
	})
}

// ReadsTo notes that a READ was retransmitted and asked for responses up to psn, more than the first time.
func (s *SendQueue) ReadsTo(psn packet.PSN) {
	r := s.Lost()
	r.ReadTo, r.ReadMore = psn, true
}

// MayRead reports whether a response at psn may be one that a READ asked for when it was retransmitted, but not the first time.
func (s *SendQueue) MayRead(psn packet.PSN) bool {
	return s.Recovery != nil && s.Recovery.ReadMore && psn.Before(s.Recovery.ReadTo)
}

// Asked reports whether the READ at psn read was ever asked for again from a PSN for which fits holds. What is sent first may arrive last, and
// what arrives once may have been copied on its way.
func (s *SendQueue) Asked(read packet.PSN, fits func(from packet.PSN) bool) bool {
	if s.Recovery == nil {
		return false
	}
	return slices.ContainsFunc(s.Recovery.Past, func(issue Issue) bool { return issue.READ == read && fits(issue.From) })
}

// MayAsk reports whether the READ at psn read may ever have been asked for again from a PSN: it was, or so much was asked for again that not all is kept.
func (s *SendQueue) MayAsk(read, from packet.PSN) bool {
	return s.Recovery != nil && (len(s.Recovery.Past) == mostIssues || s.Asked(read, func(psn packet.PSN) bool { return psn == from }))
}

// Accepted forgets the issues of the READ at psn read: the responder has taken none of them.
func (s *SendQueue) Accepted(read packet.PSN) {
	if s.Recovery != nil {
		s.Recovery.Issues = slices.DeleteFunc(s.Recovery.Issues, func(issue Issue) bool { return issue.READ == read })
	}
}
