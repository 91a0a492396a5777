package upper

import (
	"slices"

	"ibwitness/packet"
)

// answer is a message that has answered a command.
type answer struct {
	at    int64  // when it came, nanoseconds since the Unix epoch
	frame uint64 // in which
	order uint64 // of the command
	psn   packet.PSN
	tap   uint16
}

// From is a request of an end which its peer has refused for good: what the end sends from it on is not delivered.
type From struct {
	Tap   uint16
	Frame uint64 // in which the request begins; 0: it is not known
	PSN   packet.PSN
}

// has reports whether a message with an answer was sent from the request on.
func (f *From) has(a *answer) bool {
	return f.Frame != 0 && a.tap == f.Tap && a.frame >= f.Frame && !a.psn.Before(f.PSN)
}

// Refused has the commands be open that an end has answered from a request on which its peer has refused: the answers were not delivered. Only the newest
// mostRecent answers are looked at. To do it again changes nothing.
func (t *Tracker) Refused(from int, f From) {
	s := &t.times
	for known := min(s.Count, mostRecent-uint64(s.undone)); known > 0; known-- {
		a := s.recent[(s.Count-1)%mostRecent]
		if !f.has(&a) {
			return
		}
		c := t.ordered(a.order)
		if c == nil || c.state != ended || int(c.From) != 1-from^t.turned {
			return // another command has its place
		}
		t.unanswered(c, &a)
		s.Answer = 0
		if s.Count > 0 && known > 1 {
			s.Answer = s.recent[(s.Count-1)%mostRecent].frame
		}
	}
}

// undelivered is the frame of the answer to a command that was not delivered; 0: there was none.
func (t *Tracker) undelivered(c *Command) uint64 {
	s := &t.times
	for n := range uint64(s.undone) {
		if a := &s.recent[(s.Count+n)%mostRecent]; a.order == c.order {
			return a.frame
		}
	}
	return 0
}

// unanswered takes back that the newest answer has answered a command.
func (t *Tracker) unanswered(c *Command, a *answer) {
	s, took := &t.times, a.at-c.Since
	t.counts.Ended--
	if c.Status != 0 {
		t.counts.Failed--
		t.failures = slices.DeleteFunc(t.failures, func(f Failed) bool { return f.Answer == a.frame && f.First.order == c.order })
		if t.failure.order == c.order {
			t.failure = Command{}
		}
	}
	s.Count--
	s.undone++
	s.Sum -= took
	if took >= SlowAfter {
		s.Slow--
	}
	s.drop(c.order)
	if int(c.class) < len(t.classes) {
		k := &t.classes[c.class]
		k.Answered--
		k.Sum -= took
		k.Longest = k.second.instead(k.Longest, took)
		if took >= SlowAfter {
			k.Slow--
		}
		if at := slices.IndexFunc(t.pairs, func(p Pair) bool { return p.Class == c.class && p.Target == c.target }); at >= 0 {
			p := &t.pairs[at]
			p.Answered--
			p.Sum -= took
			p.Longest = p.second.instead(p.Longest, took)
		}
	}
	if c.target > 0 {
		k := &t.targets[c.target-1]
		k.Answered--
		k.Sum -= took
		k.Longest = k.second.instead(k.Longest, took)
		if took >= LateAfter {
			k.Late.drop(c.Since, a.at)
		}
	}
	if took >= LateAfter {
		s.Late.drop(c.Since, a.at)
		if o := t.began; o != nil && o.Class == c.class && o.Target == c.target {
			t.began = nil // when they began to be late is not known any more
		}
	}
	c.state, c.Status = open, 0
}

// drop takes the command that is kept of an order from those that took longest.
func (s *Took) drop(order uint64) {
	for n := range s.Longest {
		if d := &s.Longest[n]; d.Answer != 0 && d.order == order {
			copy(s.Longest[n:], s.Longest[n+1:])
			s.Longest[MostLongest-1] = Done{}
			return
		}
	}
}

// drop takes back the newest late command.
func (l *Late) drop(since, ended int64) {
	l.Count--
	switch n := len(l.Times); {
	case l.Count == 0:
		*l = Late{}
	case n > 0 && !l.More && l.Times[n-1] == LateTime{since, ended}:
		l.Times = l.Times[:n-1]
	}
}

// second is what took longest but for one, nanoseconds: that is it where the one is taken back.
type second int64

// longer returns the longest, where one more took so long.
func (s *second) longer(longest, took int64) int64 {
	*s = second(max(int64(*s), min(longest, took)))
	return max(longest, took)
}

// instead returns the longest, where one that took so long is taken back: no less than it is.
func (s *second) instead(longest, took int64) int64 {
	if took < longest {
		return longest
	}
	return int64(*s)
}
