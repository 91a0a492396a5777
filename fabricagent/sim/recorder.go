package sim

import (
	"io"
	"sync"

	"ibwitness/fabricagent"
)

// Recorder is a Sink that an agent reads as if it were a capture: a fabricagent.Source that drives the simulation as far as the next batch
// needs it.
type Recorder struct {
	// Step takes the simulation a step further, and is false at its end.
	Step func() bool

	name   string
	taps   []fabricagent.Tap
	number uint64
	open   *recordedBatch // takes frames; nil: none has come since the last one was full
	full   []*recordedBatch
	used   sync.Pool // of *recordedBatch
	ended  bool
}

// recordedBatch is a batch of frames.
type recordedBatch struct {
	fabricagent.Batch
	room   [fabricagent.BatchSize]fabricagent.Frame
	blocks []*block // that frames of it are in
	taken  bool     // and not released
}

// NewRecorder returns a recorder that drives a simulation by step, which is false at the end of the simulation. Taps name the simulation
// as the file that they are of.
func NewRecorder(name string, step func() bool) *Recorder { return &Recorder{Step: step, name: name} }

// Tap adds a tap.
func (r *Recorder) Tap(t fabricagent.Tap) (uint16, error) {
	t.File = r.name
	r.taps = append(r.taps, t)
	return uint16(len(r.taps) - 1), nil
}

// batch returns the batch that takes the next frame.
func (r *Recorder) batch() *recordedBatch {
	if r.open == nil {
		b, _ := r.used.Get().(*recordedBatch)
		if b == nil {
			b = new(recordedBatch)
			b.Batch = fabricagent.NewBatch(nil, func() { r.release(b) })
		}
		b.Frames = b.room[:0]
		r.open = b
	}
	return r.open
}

// release takes a batch back, from any goroutine.
func (r *Recorder) release(b *recordedBatch) {
	if !b.taken {
		return
	}
	b.taken = false
	for _, x := range b.blocks {
		x.batches.Add(-1)
	}
	clear(b.blocks)
	clear(b.Frames)
	b.blocks, b.Frames = b.blocks[:0], nil
	r.used.Put(b)
}

// hold has the batch of the next frame hold its block.
func (r *Recorder) hold(x *block) {
	b := r.batch()
	for i := len(b.blocks) - 1; i >= 0; i-- {
		if b.blocks[i] == x {
			return
		}
	}
	x.batches.Add(1)
	b.blocks = append(b.blocks, x)
}

// Frame stores a frame.
func (r *Recorder) Frame(f *fabricagent.Frame, _ string) {
	b := r.batch()
	n := len(b.Frames)
	b.Frames = b.Frames[:n+1]
	b.Frames[n] = *f
	r.number++
	b.Frames[n].Number = r.number
	if n+1 == fabricagent.BatchSize {
		r.full, r.open = append(r.full, b), nil
	}
}

// Next returns the next batch of frames.
func (r *Recorder) Next() (*fabricagent.Batch, error) {
	for len(r.full) == 0 && !r.ended {
		r.ended = r.Step == nil || !r.Step()
	}
	if len(r.full) == 0 && r.open != nil {
		r.full, r.open = append(r.full, r.open), nil
	}
	if len(r.full) == 0 {
		return nil, io.EOF
	}
	b := r.full[0]
	r.full = r.full[:copy(r.full, r.full[1:])]
	b.taken = true
	return &b.Batch, nil
}

// Taps returns the taps.
func (r *Recorder) Taps() []fabricagent.Tap { return r.taps }

// Progress returns that nothing is known of it.
func (r *Recorder) Progress() (done, total int64) { return 0, 0 }

// Close ends the simulation.
func (r *Recorder) Close() error {
	r.ended, r.open, r.full = true, nil, nil
	return nil
}
