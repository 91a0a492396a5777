package scenario

import (
	"slices"

	"ibwitness/wqe"
)

// lists are the scatter or gather lists of a piece of work, in the order in which they were given to requests. A list is given again once its request has
// completed, so that a long run keeps to little memory.
type lists struct {
	at     []uint64 // where each list begins in the local region. Invariant: at[next] is the one given longest ago
	next   int
	newest given
}

// given is how the newest list was given.
type given uint8

const (
	notGiven given = iota // it is not kept
	givenFirst
	givenAgain
)

// leastLists is how many lists a piece of work has before one is given again.
const leastLists = 256

// most is how many lists a piece of work has at most. A shared receive queue is no queue of the requests that queue pairs have taken: of its lists none is
// given again.
func (w *Work) most() int {
	if w.SRQ != "" {
		return w.Repeat
	}
	return min(w.Repeat, defaultDepth+2)
}

// size is how many bytes of the local region the list of a piece of work takes.
func (w *Work) size() uint64 {
	n := uint64(2 * align)
	for _, l := range w.Lengths {
		n += uint64(l) + align
	}
	return n
}

// lists is how much of the local region the lists of an HCA take, so that nothing is written that is still sent or that was received; what is beyond
// mostLocal begins again.
func (s *Scenario) lists(hca string) (n uint64) {
	for i := range s.Work {
		if w := &s.Work[i]; s.place(w) == hca {
			n += w.size() * uint64(w.most())
		}
	}
	return max(min(n, mostLocal), 4096)
}

const (
	align     = 64
	mostLocal = 256 << 20
)

// oldest gives the list that was given longest ago, where its request is no longer among the outstanding ones of a queue.
func (l *lists) oldest(outstanding int) (at uint64, ok bool) {
	n := len(l.at)
	if n < leastLists || n <= outstanding {
		return 0, false
	}
	at, l.newest = l.at[l.next], givenAgain
	l.next = (l.next + 1) % n
	return at, true
}

// add notes a list that is given for the first time.
func (l *lists) add(at uint64) {
	l.at, l.newest = slices.Insert(l.at, l.next, at), givenFirst
	l.next = (l.next + 1) % len(l.at)
}

// refused notes that the request of the newest list was not posted.
func (l *lists) refused() {
	if l.newest == notGiven {
		return
	}
	l.next = (l.next + len(l.at) - 1) % len(l.at)
	if l.newest == givenFirst {
		l.at = slices.Delete(l.at, l.next, l.next+1)
		l.next %= max(len(l.at), 1)
	}
}

// segments returns a list of the local region for a request of a queue of which so many are outstanding, and fills it where it is given for the first
// time. The list is valid until the next call.
func (d *device) segments(l *lists, outstanding int, lengths []uint32, filled bool) ([]wqe.Segment, error) {
	list := d.list[:0]
	l.newest = notGiven
	if at, ok := l.oldest(outstanding); ok && !d.again {
		for _, n := range lengths {
			list = append(list, wqe.Segment{VA: d.local.VA + at, Length: n, LKey: d.local.lkey})
			at += span(n)
		}
		d.list = list
		return list, nil
	}
	at := d.next
	for _, n := range lengths {
		if d.next+uint64(n) > d.local.Length {
			d.next, d.again = 0, true
		}
		if filled && !d.again {
			if err := d.fill(&d.local, d.next, uint64(n)); err != nil {
				return nil, err
			}
		}
		list = append(list, wqe.Segment{VA: d.local.VA + d.next, Length: n, LKey: d.local.lkey})
		d.next += span(n)
	}
	if !d.again {
		l.add(at)
	}
	d.list = list
	return list, nil
}

// span is how far apart a segment and the next one begin.
func span(length uint32) uint64 { return (uint64(length) + align - 1) &^ (align - 1) }
