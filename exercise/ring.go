package exercise

import (
	"fmt"
	"io"
	"slices"

	"ibwitness/fabricagent"
)

// ring is the receive memory: the newest frames, up to so many bytes. What it had no room for is counted.
type ring struct {
	taps   []fabricagent.Tap
	frames []fabricagent.Frame // from at on, which is the oldest
	at     int
	bytes  uint64
	most   uint64
	lost   uint64
}

// Tap adds a tap.
func (r *ring) Tap(t fabricagent.Tap) (uint16, error) {
	r.taps = append(r.taps, t)
	return uint16(len(r.taps) - 1), nil
}

// Frame keeps a frame, whose data nobody changes, and forgets the oldest ones where there is no room.
func (r *ring) Frame(f *fabricagent.Frame, _ string) {
	r.frames = append(r.frames, *f)
	r.bytes += uint64(len(f.Data))
	for r.bytes > r.most && r.at < len(r.frames) {
		r.bytes -= uint64(len(r.frames[r.at].Data))
		r.frames[r.at] = fabricagent.Frame{}
		r.at++
		r.lost++
	}
	if r.at > 1024 && r.at > len(r.frames)/2 {
		r.frames, r.at = slices.Clone(r.frames[r.at:]), 0
	}
}

// kept is how many frames are kept.
func (r *ring) kept() int { return len(r.frames) - r.at }

// write writes what is kept as a pcapng.
func (r *ring) write(w io.Writer) error {
	out := fabricagent.NewWriter(w, "ibwitness")
	for _, t := range r.taps {
		if _, err := out.AddTap(t); err != nil {
			return fmt.Errorf("exercise: %w", err)
		}
	}
	for i := r.at; i < len(r.frames); i++ {
		if err := out.Write(&r.frames[i]); err != nil {
			return fmt.Errorf("exercise: %w", err)
		}
	}
	return out.Flush()
}
