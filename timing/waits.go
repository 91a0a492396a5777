package timing

import (
	"slices"
	"time"

	"ibwitness/verifier"
)

// Waits is how long messages or commands waited for what the program at the other end sends in return.
type Waits struct {
	Latency verifier.Histogram
	Most    time.Duration
	Frame   uint64 // that ended the longest
	At      int64  // when that was, nanoseconds since the Unix epoch
	Longest Longest
	Series  Series // of what was answered then
}

// Add counts how long one waited that a frame has answered.
func (w *Waits) Add(d time.Duration, at int64, frame uint64) {
	w.Latency.Observe(d)
	w.Series.add(at, Slot{Slowest: d, Took: d, Messages: 1})
	w.Longest.add(Took{d, frame, at})
	if d > w.Most {
		w.Most, w.Frame, w.At = d, frame, at
	}
}

// Mean is how long they waited in the mean.
func (w *Waits) Mean() time.Duration { return time.Duration(w.Latency.Sum / max(w.Latency.Count(), 1)) }

func (w *Waits) merge(o *Waits) {
	w.Latency.Add(&o.Latency)
	w.Series.merge(&o.Series)
	w.Longest.merge(&o.Longest)
	if o.Most > w.Most {
		w.Most, w.Frame, w.At = o.Most, o.Frame, o.At
	}
}

const (
	changeLeast  = 64 // messages
	changeTime   = 100 * time.Microsecond
	changeLoad   = 2  // times as many messages a second there are at most
	changeTimes  = 5  // as long as before
	changeSlots  = 4  // of each kind there are at least
	changeSample = 4  // messages of a slot at least
	changeMixed  = 10 // one slot in so many may be of the other kind
)

// Change is that messages took many times as long for a part of the time as before and after.
type Change struct {
	From, To    int64         // nanoseconds since the Unix epoch
	Before      bool          // they took less before
	After       bool          // and after
	Usual, Then time.Duration // that they took in the mean
	UsualRate   float64       // messages a second
	ThenRate    float64
}

// slotMean is how long the messages of some slots took in the mean.
type slotMean struct {
	from, to int64
	mean     time.Duration
	n        uint32
}

// means are the means of the slots of a series, of which those with few messages are joined with the next.
func (s *Series) means() (list []slotMean) {
	var k Slot
	from := s.Start
	for i := range s.Slots {
		if k.Messages == 0 {
			from = s.Start + int64(i)*s.Width
		}
		k.add(s.Slots[i])
		if k.Messages >= changeSample {
			list = append(list, slotMean{from, s.Start + int64(i+1)*s.Width, k.Took / time.Duration(k.Messages), k.Messages})
			k = Slot{}
		}
	}
	return list
}

// Change finds a part of the time in which they waited many times as long as in the rest of it, and not because there were many more of them.
func (w *Waits) Change() (c Change, ok bool) {
	if w == nil || w.Latency.Count() < changeLeast {
		return c, false
	}
	c, ok = w.Series.change()
	return c, ok && c.Then >= changeTime && c.ThenRate <= changeLoad*c.UsualRate
}

// Changes reports whether there is such a part.
func (w *Waits) Changes() bool {
	_, ok := w.Change()
	return ok
}

func (s *Series) change() (c Change, ok bool) {
	list := s.means()
	if len(list) < 2*changeSlots {
		return c, false
	}
	sorted := make([]time.Duration, len(list))
	for i := range list {
		sorted[i] = list[i].mean
	}
	slices.Sort(sorted)
	cut, most := 0, 0.0
	for i := changeSlots; i+changeSlots <= len(sorted); i++ {
		if r := float64(sorted[i]) / float64(max(sorted[i-1], 1)); r > most {
			cut, most = i, r
		}
	}
	usual, then := sorted[cut/2], sorted[(cut+len(sorted))/2]
	if then < changeTimes*usual {
		return c, false
	}
	first := slices.IndexFunc(list, func(k slotMean) bool { return k.mean >= sorted[cut] })
	last := first
	for i := range list {
		if list[i].mean >= sorted[cut] {
			last = i
		}
	}
	slow := len(sorted) - cut
	if run := last + 1 - first; (run-slow)*changeMixed > slow {
		return c, false // they alternate
	}
	c = Change{From: list[first].from, To: list[last].to, Before: first > 0, After: last+1 < len(list), Usual: usual, Then: then}
	c.UsualRate = rateOf(slices.Concat(list[:first], list[last+1:]))
	c.ThenRate = rateOf(list[first : last+1])
	return c, true
}

// rateOf is how many messages of some slots were answered a second.
func rateOf(list []slotMean) float64 {
	n, d := uint32(0), int64(0)
	for _, k := range list {
		n, d = n+k.n, d+k.to-k.from
	}
	return float64(n) / time.Duration(max(d, 1)).Seconds()
}
