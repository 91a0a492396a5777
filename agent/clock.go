package agent

import (
	"cmp"
	"slices"
	"time"

	"ibwitness/fabricagent"
)

// ClockStep tells that the clock of a tap went back, or jumped ahead by days: it was set, or is not the only one that stamps the frames of the tap.
type ClockStep struct {
	Tap   uint16
	Frame uint64        // the first frame that shows it
	By    time.Duration // from the frame before it, or the newest one where it goes back
	Count uint64        // how many frames show it
}

const (
	// backStep is by how much a frame is older than the newest one before it where a clock was set back: frames of several receive queues are in
	// disorder by less.
	backStep = int64(10 * time.Millisecond)
	// shortStep is by how much likewise where no few frames are, but all of a good while: the clock takes that long to reach the newest time once more.
	shortStep = int64(time.Millisecond)
	// fewestLagging is how many frames that are at least.
	fewestLagging = 16
	// aheadStep is for how long no frame comes while a capture goes on.
	aheadStep = int64(24 * time.Hour)
)

// standstill is how long no frame may come for the host of the tap to have been stopped.
const standstill = int64(50 * time.Millisecond)

// Silence is a time in which no tap of a capture recorded any frame, of whatever protocol.
type Silence struct {
	From, To int64  // times of the frames before and after it, nanoseconds since the Unix epoch
	Frame    uint64 // after it, of Tap
	Tap      uint16
	Flushed  Flushed
	GoesOn   []GoesOn // messages that went on after it
}

// Disorder is the frames that are stamped before one which their file has before them.
type Disorder struct {
	Count uint64
	Most  time.Duration // by how much, at most
	Frame uint64        // the first of them, of Tap
	Tap   uint16
}

// note notes frame f, which is older than the newest one before it: by is less than 0.
func (d *Disorder) note(f *fabricagent.Frame, by int64) {
	if d.Count++; d.Count == 1 {
		d.Frame, d.Tap = f.Number, f.Tap
	}
	d.Most = max(d.Most, time.Duration(-by))
}

// MostSilences is how many silences are kept, of the longest.
const MostSilences = 16

// clocks watches the clocks of the taps.
type clocks struct {
	first   int64   // time of the earliest frame
	last    int64   // time of the newest frame
	stopped int64   // when the capture last went on after a standstill
	newest  []int64 // time of the newest frame of each tap, but for the one that at names
	at      int     // the tap that showed the newest frame of all last; -1: none is known to have
	step    ClockStep
	order   Disorder
	silent  []Silence // the longest standstills
	lagging lagging
	starts  []int // in a batch: the first frames after standstills
	turns   turns
}

// lagging is the frames of a tap that are older than its newest one, by less than a backStep.
type lagging struct {
	step  ClockStep // Count: how many they are; 0: none are
	other bool      // there were some before, which a clock that is set does not explain
}

// older takes frame f of a tap, whose newest one is so much later: by is less than 0.
func (k *clocks) older(f *fabricagent.Frame, by int64) {
	k.order.note(f, by)
	b := &k.lagging
	switch {
	case b.step.Count > 0 && b.step.Tap == f.Tap:
		if b.step.Count++; b.step.Count == fewestLagging && !b.other {
			k.step = b.step
		} else if k.step.Frame == b.step.Frame {
			k.step.Count++
		}
	case by <= -shortStep && k.step.Count == 0:
		b.other = b.other || b.step.Count > 0
		b.step = ClockStep{Tap: f.Tap, Frame: f.Number, By: time.Duration(by), Count: 1}
	}
}

// caughtUp takes a frame of a tap that is as new as its newest one.
func (k *clocks) caughtUp(tap uint16) {
	if b := &k.lagging; b.step.Count > 0 && b.step.Tap == tap {
		b.step, b.other = ClockStep{}, true
	}
}

// take takes the frames of a batch.
func (k *clocks) take(frames []fabricagent.Frame) {
	if k.newest == nil {
		k.first, k.last, k.at = frames[0].Time, frames[0].Time, -1
	}
	last, at := k.last, k.at
	k.starts = k.starts[:0]
	for i := range frames {
		f := &frames[i]
		if uint64(f.Time-last) <= uint64(standstill) && int(f.Tap) == at {
			last = f.Time
			continue
		}
		k.last = last
		if k.other(f) {
			k.starts = append(k.starts, i)
		}
		last, at = k.last, k.at
	}
	k.last = last
	if k.turns.wants() || len(k.starts) > 0 {
		k.measure(frames)
	}
}

// other takes a frame that did not come from the same tap as the newest one, or not soon after it. It reports whether it is the first after a standstill.
func (k *clocks) other(f *fabricagent.Frame) (first bool) {
	k.first = min(k.first, f.Time)
	if k.at >= 0 {
		k.newest[k.at] = k.last
	}
	for int(f.Tap) >= len(k.newest) {
		k.newest = append(k.newest, 0)
	}
	last := &k.newest[f.Tap]
	if by := f.Time - *last; *last != 0 && (by < -backStep || by > aheadStep) {
		if k.step.Count == 0 {
			k.step = ClockStep{Tap: f.Tap, Frame: f.Number, By: time.Duration(by)}
		}
		k.step.Count++
	} else if *last != 0 && by < 0 {
		k.older(f, by)
	} else {
		k.caughtUp(f.Tap)
	}
	*last = max(*last, f.Time)
	if f.Time-k.last > standstill {
		k.stopped, first = f.Time, true
		k.silence(Silence{From: k.last, To: f.Time, Frame: f.Number, Tap: f.Tap})
	}
	k.at = -1
	if f.Time >= k.last {
		k.last, k.at = f.Time, int(f.Tap)
	}
	return first
}

// silence keeps a silence, where it is among the longest.
func (k *clocks) silence(s Silence) {
	if len(k.silent) < MostSilences {
		k.silent = append(k.silent, s)
		return
	}
	for i := range k.silent {
		if o := k.silent[i]; s.To-s.From > o.To-o.From {
			k.silent[i], s = s, o
		}
	}
}

// silences lists the longest silences in the order in which they were.
func (k *clocks) silences() []Silence {
	k.flushed()
	list := slices.Clone(k.silent)
	slices.SortFunc(list, func(a, b Silence) int { return cmp.Compare(a.From, b.From) })
	return list
}

// stepped tells the agent that a clock of the capture was set: no wait is proven with it, what was found so far included.
func (t *Transport) stepped() { t.Rec.DoubtClock() }
