package timing

import (
	"cmp"
	"slices"
	"time"
)

// MostSilences is how many silences are kept, of the longest.
const MostSilences = 16

// leastSilence is how long one is at least, nanoseconds.
const leastSilence = int64(10 * time.Millisecond)

// Silence is a time in which something sent no packet.
type Silence struct {
	From, To int64     // of the packets before and after it, nanoseconds since the Unix epoch
	Frames   [2]uint64 // of these
}

// Length is how long it is, nanoseconds.
func (s *Silence) Length() int64 { return s.To - s.From }

// Activity is from when until when an end or a host sent packets, and its longest silences in that time, in the order in which they were. Its zero value is that it sent none.
type Activity struct {
	First, Last int64 // nanoseconds since the Unix epoch
	Frames      [2]uint64
	Silences    []Silence
}

// packet takes a packet.
func (a *Activity) packet(at int64, frame uint64) {
	switch {
	case a.First == 0:
		a.First, a.Frames[0] = at, frame
	case at < a.Last:
		return
	case at-a.Last >= leastSilence:
		a.keep(Silence{a.Last, at, [2]uint64{a.Frames[1], frame}})
	}
	a.Last, a.Frames[1] = at, frame
}

// keep takes a silence after all others.
func (a *Activity) keep(s Silence) {
	if a.Silences = append(a.Silences, s); len(a.Silences) > MostSilences {
		n := 0
		for i := range a.Silences {
			if a.Silences[i].Length() < a.Silences[n].Length() {
				n = i
			}
		}
		a.Silences = slices.Delete(a.Silences, n, n+1)
	}
}

// Join adds the packets of another: what remains are times in which neither sent any.
func (a *Activity) Join(b *Activity) {
	switch {
	case b.First == 0:
		return
	case a.First == 0:
		*a = *b
		a.Silences = slices.Clone(b.Silences)
		return
	}
	one, other := a.around(), b.around()
	if b.First < a.First {
		a.First, a.Frames[0] = b.First, b.Frames[0]
	}
	if b.Last > a.Last {
		a.Last, a.Frames[1] = b.Last, b.Frames[1]
	}
	a.Silences = nil
	for len(one) > 0 && len(other) > 0 {
		x, y := &one[0], &other[0]
		s := *x
		if y.From > s.From {
			s.From, s.Frames[0] = y.From, y.Frames[0]
		}
		if y.To < s.To {
			s.To, s.Frames[1] = y.To, y.Frames[1]
		}
		if s.From >= a.First && s.To <= a.Last && s.Length() >= leastSilence {
			a.keep(s)
		}
		if x.To < y.To {
			one = one[1:]
		} else {
			other = other[1:]
		}
	}
}

// around are the silences with the times before the first packet and after the last.
func (a *Activity) around() []Silence {
	const ever = int64(1) << 62
	return slices.Concat([]Silence{{-ever, a.First, [2]uint64{0, a.Frames[0]}}}, a.Silences, []Silence{{a.Last, ever, [2]uint64{a.Frames[1], 0}}})
}

// Silent returns the silence that covers a time; nil: none that is kept does.
func (a *Activity) Silent(from, to int64) *Silence {
	n, _ := slices.BinarySearchFunc(a.Silences, from, func(s Silence, at int64) int { return cmp.Or(cmp.Compare(s.From, at), -1) })
	if n > 0 && a.Silences[n-1].To >= to {
		return &a.Silences[n-1]
	}
	return nil
}

// Sends reports whether it sent packets all the time in which another was silent: it was never silent itself for one in so many parts of it then.
func (a *Activity) Sends(silence *Silence, parts int64) bool {
	return a.First != 0 && a.First <= silence.From && a.Last >= silence.To && !slices.ContainsFunc(a.Silences, func(o Silence) bool {
		return parts*(min(o.To, silence.To)-max(o.From, silence.From)) >= silence.Length()
	})
}

// Sent reports whether it is known to have sent packets in a time in which another was silent, of which it had sent some before and after.
func (a *Activity) Sent(silence *Silence) bool {
	shorter := func(o Silence) bool { return o.Length() < silence.Length() }
	all := len(a.Silences) < MostSilences || slices.ContainsFunc(a.Silences, shorter) // that are as long are kept
	return all && a.Sends(silence, 1)
}
