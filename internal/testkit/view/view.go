// Package view shows captures as other taps would have: what is in them cut, lost, late, copied, tunnelled or joined, and their clocks coarse or wrong.
// Who is innocent in a capture is innocent in each view of it.
package view

import (
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"

	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// Frame is a frame as a view shows it.
type Frame struct {
	fabricagent.Frame
	At  int64  // when it was recorded, which orders a file; Time is what the file says
	End int    // which end sent it: 0 or 1
	To  Target // of its RDMA packet, if it is one
}

// Target is the queue pair that a packet goes to.
type Target struct {
	Addr packet.Addr
	QPN  uint32
}

// View is a capture after what taps and networks did to it.
type View struct {
	*rand.Rand
	About  []string // what they did
	Taps   []fabricagent.Tap
	Frames []Frame
	Near   []packet.Addr // the ends that the taps are near, where that is still true
	// Several says that there is more than one tap.
	Several bool
	// Hidden says that what the capture reports as lost is at its end.
	Hidden bool
	// Pairs are the connections that the capture shows, for QP.
	Pairs [][2]Target
	// Others are captures that Join may take from; Joined is what it took.
	Others []*Capture
	Joined *Capture

	tick  int64   // in which the clock counts
	units []uint8 // if_tsresol of each interface; none: no interface has been given one
}

// New begins a view of what taps have seen.
func New(r *rand.Rand, taps []fabricagent.Tap, frames []Frame) *View {
	return &View{Rand: r, Taps: slices.Clone(taps), Frames: slices.Clone(frames), tick: 1}
}

// Finish puts the frames into the order in which they are in their file, or, of several files, are merged, and numbers them.
func (v *View) Finish() {
	slices.SortStableFunc(v.Frames, func(a, b Frame) int { return cmp.Compare(a.At, b.At) })
	for i := range v.Frames {
		t := max(v.Frames[i].Time, 0)
		v.Frames[i].Time = t - t%v.tick
	}
	v.merge()
	v.number()
}

// number numbers the frames of each file.
func (v *View) number() {
	numbers := map[string]uint64{}
	for i := range v.Frames {
		f := &v.Frames[i]
		numbers[v.Taps[f.Tap].File]++
		f.Number = numbers[v.Taps[f.Tap].File]
	}
}

// files is how many files the taps are of.
func (v *View) files() int {
	names := map[string]bool{}
	for i := range v.Taps {
		names[v.Taps[i].File] = true
	}
	return len(names)
}

// merge orders several files as fabricagent.Open does: by time, where one that steps back inside a file does not reorder that file.
func (v *View) merge() {
	if v.files() < 2 {
		return
	}
	latest := map[string]int64{}
	for i := range v.Frames {
		f := &v.Frames[i]
		file := v.Taps[f.Tap].File
		latest[file] = max(latest[file], f.Time)
		f.At = latest[file]
	}
	slices.SortStableFunc(v.Frames, func(a, b Frame) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Tap, b.Tap)) })
}

// Source returns the view for an agent.
func (v *View) Source() fabricagent.Source { return &source{view: v, left: v.Frames} }

// source delivers the frames of a view.
type source struct {
	view *View
	left []Frame
}

func (s *source) Next() (*fabricagent.Batch, error) {
	n := min(len(s.left), fabricagent.BatchSize)
	if n == 0 {
		return nil, io.EOF
	}
	frames := make([]fabricagent.Frame, n)
	for i := range frames {
		frames[i] = s.left[i].Frame
	}
	s.left = s.left[n:]
	b := fabricagent.NewBatch(frames, nil)
	return &b, nil
}

func (s *source) Taps() []fabricagent.Tap {
	list := slices.Clone(s.view.Taps)
	if s.view.Hidden && len(s.left) > 0 {
		for i := range list {
			list[i].Dropped = 0
		}
	}
	return list
}

func (s *source) Progress() (done, total int64) { return 0, 0 }

func (s *source) Close() error { return nil }

// Say notes what was done.
func (v *View) Say(format string, args ...any) {
	v.About = append(v.About, fmt.Sprintf(format, args...))
}

func (v *View) is(p float64) bool { return v.Float64() < p }

func pick[T any](v *View, list ...T) T { return list[v.IntN(len(list))] }

// each has f change every frame of which which is true.
func (v *View) each(which func(*Frame) bool, f func(*Frame)) {
	for i := range v.Frames {
		if which(&v.Frames[i]) {
			f(&v.Frames[i])
		}
	}
}

func all(*Frame) bool { return true }

func from(end int) func(*Frame) bool { return func(f *Frame) bool { return f.End == end } }

// either takes the frames of an end, or of both.
func either(ends string) func(*Frame) bool {
	return func(f *Frame) bool { return ends == "ab" || ends == "ab"[f.End:f.End+1] }
}
