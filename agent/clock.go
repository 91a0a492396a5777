package agent

import (
	"time"

	"ibwitness/fabricagent"
)

// ClockStep tells that the clock of a tap went back, or leapt ahead by days: it was set, or is not the only one that stamps the frames of the tap.
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
	// aheadStep is for how long no frame comes while a capture goes on.
	aheadStep = int64(24 * time.Hour)
)

// clocks watches the clocks of the taps.
type clocks struct {
	newest []int64 // time of the newest frame of each tap
	step   ClockStep
}

// take takes the frames of a batch.
func (k *clocks) take(frames []fabricagent.Frame) {
	for i := range frames {
		f := &frames[i]
		for int(f.Tap) >= len(k.newest) {
			k.newest = append(k.newest, 0)
		}
		last := &k.newest[f.Tap]
		if by := f.Time - *last; *last != 0 && (by < -backStep || by > aheadStep) {
			if k.step.Count == 0 {
				k.step = ClockStep{Tap: f.Tap, Frame: f.Number, By: time.Duration(by)}
			}
			k.step.Count++
		}
		*last = max(*last, f.Time)
	}
}

// stepped tells the agent that a clock of the capture was set: no wait is proven with it, what was found so far included.
func (t *Transport) stepped() { t.Rec.DoubtClock() }
