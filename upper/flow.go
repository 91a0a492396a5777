package upper

import (
	"slices"
	"time"
)

const (
	// pauseAfter is for how long the peer moves no data at least where that is a pause, nanoseconds, and mostPauses how many of them are kept: the
	// newest.
	pauseAfter = int64(100 * time.Millisecond)
	mostPauses = 16
	// mostFirsts is of how many commands it is kept when the peer began to READ their data: the newest.
	mostFirsts = 16
	// flowUnit is the unit of Command.before, bytes.
	flowUnit = 256
	// steady is what part of its time, one in so many, a command may have waited in pauses, and after its data moved, where it waited for the data
	// of others.
	steady = 4
)

// flow is how much data of commands their peer has moved, by READ and WRITE, and when it moved none.
type flow struct {
	bytes       uint64
	first, last int64 // when it did first and last, nanoseconds since the Unix epoch
	idle        int64 // nanoseconds of all pauses between
	count       uint64
	pauses      []pause // the newest
	firsts      []first // the newest
	begun       uint64
}

type pause struct{ from, to int64 }

// first is when the peer asked for data of a command first.
type first struct {
	order uint64
	at    int64
	frame uint64
}

// adds notes that the peer moves so many bytes.
func (f *flow) adds(at int64, bytes uint32) {
	if f.first == 0 {
		f.first, f.last = at, at
	}
	if at-f.last >= pauseAfter {
		f.idle += at - f.last
		f.count++
		f.pauses = push(f.pauses, pause{f.last, at}, f.count, mostPauses)
	}
	f.last = max(f.last, at)
	f.bytes += uint64(bytes)
}

// begins notes that the peer asks for data of a command first.
func (f *flow) begins(x first) {
	f.begun++
	f.firsts = push(f.firsts, x, f.begun, mostFirsts)
}

// push puts the nth of a list, of which the newest are kept.
func push[T any](list []T, x T, n uint64, most int) []T {
	if len(list) < most {
		return append(list, x)
	}
	list[(n-1)%uint64(most)] = x
	return list
}

// firstOf returns when the peer asked for data of a command first.
func (f *flow) firstOf(c *Command) (x first, known bool) {
	i := slices.IndexFunc(f.firsts, func(x first) bool { return x.order == c.order })
	if i < 0 {
		return first{}, false
	}
	return f.firsts[i], true
}

// units is how much it has moved, in units, as Command.before counts them.
func (f *flow) units() uint32 { return uint32(f.bytes / flowUnit) }

// aheadOf returns how many bytes of the data of other commands the peer moved while one waited that the message at hand answers, where it was
// those that it waited for: the peer moved
// data all the time, as fast as at other times, and that of the command late. 0: that was not so.
func (t *Tracker) aheadOf(c *Command, m *Moved) uint64 {
	f, now := &t.flow, t.message.Time
	took, own := now-c.Since, uint64(0)
	if m.At == 0 || (now-m.At)*steady > took || took <= 0 {
		return 0
	}
	for i := range t.places {
		if p := &t.places[i]; p.of>>placeBits == c.order {
			own += uint64(p.length)
		}
	}
	moved := uint64(f.units()-c.before) * flowUnit
	busy := f.last - f.first - f.idle
	idle, oldest := max(now-max(f.last, c.Since), 0), now
	for _, p := range f.pauses {
		idle += max(p.to-max(p.from, c.Since), 0)
		oldest = min(oldest, p.from)
	}
	switch {
	case f.count > mostPauses && oldest > c.Since, idle*steady > took, busy <= 0, moved <= own:
		return 0
	case float64(moved)/float64(took)*2 < float64(f.bytes)/float64(busy): // it was slower than usual
		return 0
	}
	return moved - own
}
