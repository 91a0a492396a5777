package upper

import "time"

// SlowAfter is how long a command takes that is slow, nanoseconds.
const SlowAfter = int64(time.Second)

// Took is how long the commands took until their peer answered them.
type Took struct {
	Count   uint64
	Slow    uint64             // of them, those that took SlowAfter or longer
	Sum     int64              // nanoseconds, of all
	Newest  int64              // of the one that was answered last
	Longest [MostLongest]Done  // those that took longest, the longest first
	Answer  uint64             // frame of the newest answer
	Late    Late               // of them
	recent  [mostRecent]answer // the newest
	undone  uint8              // of them, those that were taken back: as many of the oldest have made room
}

// MostLongest is how many of the commands that took longest are kept.
const MostLongest = 4

// Done is a command that its peer has answered.
type Done struct {
	Command
	Ended  int64  // when it was answered
	Answer uint64 // in which frame; 0: there is no such command
	Others uint32 // commands of other classes that began after it and ended before it
	Own    uint32 // and of its own class
	Moved  Moved  // its data
	Ahead  uint64 // bytes of data of other commands that it waited for, as the peer moved data all the time; 0: it did not
	Freed  Freed  // what it was held for
}

// Took is how long the command took, nanoseconds.
func (d *Done) Took() int64 { return d.Ended - d.Since }

// took notes how long a command took that the message at hand answers.
func (t *Tracker) took(c *Command) {
	m, s := t.message, &t.times
	if c.Waits || !t.protocol.Answered() {
		return
	}
	took := m.Time - c.Since
	s.Count++
	s.Sum += took
	s.Newest = took
	s.answered(m, c.order)
	freed := t.releases.answers(t, c)
	if took >= SlowAfter {
		s.Slow++
	}
	if s.among(took) {
		d := Done{Command: *c, Ended: m.Time, Answer: m.Frame, Freed: freed, Others: uint32(t.OthersAfter(c))}
		d.Own = uint32(t.EndedAfter(c)) - min(uint32(t.EndedAfter(c)), d.Others)
		if took >= LateAfter {
			d.Moved = t.movedOf(c)
			d.Ahead = t.aheadOf(c, &d.Moved)
		}
		s.keep(d)
	}
	t.onTarget(c, took, m.Time)
	if int(c.class) < len(t.classes) {
		t.onset(c, took)
		t.classes[c.class].answered(c, took)
		t.inPair(c, took)
	}
}

// among reports whether a command that took so long is among those that are kept.
func (s *Took) among(took int64) bool {
	least := &s.Longest[MostLongest-1]
	return least.Answer == 0 || took > least.Took()
}

// keep puts a command among those that took longest: after those that took as long.
func (s *Took) keep(d Done) {
	at := MostLongest - 1
	for ; at > 0 && (s.Longest[at-1].Answer == 0 || d.Took() > s.Longest[at-1].Took()); at-- {
		s.Longest[at] = s.Longest[at-1]
	}
	s.Longest[at] = d
}

// Took returns how long the commands took.
func (t *Tracker) Took() *Took { return &t.times }
