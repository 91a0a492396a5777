package sim

import (
	"io"
	"sync"

	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// Tap is a place where a fabric is watched.
type Tap struct {
	index uint16
	sink  Sink
	frame fabricagent.Frame
}

// Sink takes what taps see, in the order of time. The frame is valid until Frame returns; its data may be kept, and not be changed. note says what the simulation
// knows of the frame, where it is worth a comment.
type Sink interface {
	Tap(t fabricagent.Tap) (uint16, error)
	Frame(f *fabricagent.Frame, note string)
}

// TapEnd watches what the port with this address sends and what arrives at it.
func (f *Fabric) TapEnd(addr packet.Addr, name string, sink Sink) error {
	t, err := f.tap(name, sink)
	if err == nil {
		p := f.port(addr)
		p.taps = append(p.taps, t)
	}
	return err
}

// TapMiddle watches all paths halfway.
func (f *Fabric) TapMiddle(name string, sink Sink) error {
	t, err := f.tap(name, sink)
	if err == nil {
		f.mid = append(f.mid, t)
	}
	return err
}

func (f *Fabric) tap(name string, sink Sink) (*Tap, error) {
	i, err := sink.Tap(fabricagent.Tap{Interface: name, Link: f.opt.Link})
	return &Tap{index: i, sink: sink}, err
}

// File is a Sink that writes a pcapng.
type File struct {
	w   *fabricagent.Writer
	err error
}

// NewFile begins a pcapng on w.
func NewFile(w io.Writer) *File { return &File{w: fabricagent.NewWriter(w, "ibwitness")} }

// Tap adds an interface.
func (f *File) Tap(t fabricagent.Tap) (uint16, error) { return f.w.AddTap(t) }

// Frame writes a frame. An error shows at Close.
func (f *File) Frame(x *fabricagent.Frame, note string) {
	if f.err == nil {
		f.err = f.w.Write(x, note)
	}
}

// Close writes what is still buffered, and returns the first error there was. It does not close the file below.
func (f *File) Close() error {
	if f.err != nil {
		return f.err
	}
	return f.w.Flush()
}

// Recorder is a Sink that an agent reads as if it were a capture: a fabricagent.Source that drives the simulation as far as the next batch
// needs it.
type Recorder struct {
	// Step takes the simulation a step further, and is false at its end.
	Step func() bool

	name   string
	taps   []fabricagent.Tap
	number uint64
	open   []fabricagent.Frame
	full   [][]fabricagent.Frame
	used   sync.Pool // room for batches
	ended  bool
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

// Frame stores a frame.
func (r *Recorder) Frame(f *fabricagent.Frame, _ string) {
	if r.open == nil {
		if used, ok := r.used.Get().(*[]fabricagent.Frame); ok {
			r.open = (*used)[:0]
		} else {
			r.open = make([]fabricagent.Frame, 0, fabricagent.BatchSize)
		}
	}
	r.number++
	r.open = append(r.open, *f)
	r.open[len(r.open)-1].Number = r.number
	if len(r.open) == fabricagent.BatchSize {
		r.full, r.open = append(r.full, r.open), nil
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
	if len(r.full) > 0 {
		frames := r.full[0]
		r.full = r.full[1:]
		b := fabricagent.NewBatch(frames, func() {
			if room := frames; room != nil {
				frames = nil
				clear(room)
				r.used.Put(&room)
			}
		})
		return &b, nil
	}
	return nil, io.EOF
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
