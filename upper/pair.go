package upper

import "slices"

// mostPairs is how many pairs a tracker counts: 3 KiB.
const mostPairs = 64

// Pair is how long the commands of one class took that work on one target.
type Pair struct {
	Class    uint8 // its place among the classes
	Target   uint8 // and among the targets, plus one; 0: it is not known what they work on
	Answered uint64
	Sum      int64 // nanoseconds, of those that were answered
	Longest  int64 // of them
	second   second
	newest   began // when the one of them began that began last, and its frame
}

// began is when and in which frame a command began.
type began struct {
	at    int64 // nanoseconds since the Unix epoch
	frame uint64
	tap   uint16
}

// inPair counts how long a command took, nanoseconds.
func (t *Tracker) inPair(c *Command, took int64) {
	at := slices.IndexFunc(t.pairs, func(p Pair) bool { return p.Class == c.class && p.Target == c.target })
	switch {
	case at >= 0:
	case len(t.pairs) == mostPairs:
		t.pairless = true
		return
	default:
		at = len(t.pairs)
		t.pairs = append(t.pairs, Pair{Class: c.class, Target: c.target})
	}
	p := &t.pairs[at]
	p.Answered++
	p.Sum += took
	p.Longest = p.second.longer(p.Longest, took)
	if c.Since >= p.newest.at {
		p.newest = began{c.Since, c.Frame, c.Tap}
	}
}

// Pairs returns how long the commands took by class and target; nil: there were more of these than are counted, or not all commands were followed.
func (t *Tracker) Pairs() []Pair {
	if t.pairless || t.Classes() == nil || t.Targets() == nil {
		return nil
	}
	return slices.Clone(t.pairs)
}
