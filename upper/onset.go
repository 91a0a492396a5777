package upper

// Onset is when the commands of one class that work on one target began to take long: from the first on that was late on the connection. It is kept
// of connections that had a late command only.
type Onset struct {
	Class  uint8  // its place among the classes
	Target uint8  // and among the targets, plus one; 0: it is not known what they work on
	First  Moment // it, of those that were late the one that began first
	Last   Moment // of those before it the one that began last; Frame 0: that is not known
	Before Spent  // those that began before it
	Since  Spent  // it, and those that began later
}

// Moment is when a command began, nanoseconds since the Unix epoch, how long it took, and the frames of it and of its answer.
type Moment struct {
	At, Took      int64
	Frame, Answer uint64
	Tap           uint16
}

// Spent is how long some commands took, nanoseconds. Least is not kept of those that were answered before the first one was late.
type Spent struct {
	Count               uint64
	Sum, Least, Longest int64
}

func (s *Spent) add(took int64) {
	if s.Count == 0 || took < s.Least {
		s.Least = took
	}
	s.Count++
	s.Sum += took
	s.Longest = max(s.Longest, took)
}

// onset notes how long a command took, nanoseconds, which the message at hand answers, before its class counts it.
func (t *Tracker) onset(c *Command, took int64) {
	o := t.began
	if o == nil {
		if took < LateAfter {
			return
		}
		o = &Onset{Class: c.class, Target: c.target}
		for i := range t.pairs {
			if p := &t.pairs[i]; p.Class == c.class && p.Target == c.target {
				o.Before = Spent{Count: p.Answered, Sum: p.Sum, Longest: p.Longest}
				o.Last = Moment{At: p.newest.at, Frame: p.newest.frame, Tap: p.newest.tap}
			}
		}
		t.began = o
	}
	if c.class != o.Class || c.target != o.Target {
		return
	}
	m := Moment{c.Since, took, c.Frame, t.message.Frame, c.Tap}
	switch {
	case o.First.Frame != 0 && c.Since >= o.First.At:
		o.Since.add(took)
	case took >= LateAfter:
		o.First = m // an earlier one that was answered later
		o.Since.add(took)
	default:
		o.Before.add(took)
		if c.Since >= o.Last.At {
			o.Last = m
		}
	}
}

// Onset returns it; nil: no command was late.
func (t *Tracker) Onset() *Onset { return t.began }
