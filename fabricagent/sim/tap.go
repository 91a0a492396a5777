package sim

import (
	"io"

	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// Tap is a place where a fabric is watched.
type Tap struct {
	index    uint16
	sink     Sink
	recorder *Recorder // sink, where it is one
	writes   bool      // sink writes frames, and keeps none
	frame    fabricagent.Frame
}

// Sink takes what taps see, in the order of time. The frame is valid until Frame returns; its data may be kept, and not be changed. note says what the simulation
// knows of the frame, where it is worth a comment.
type Sink interface {
	Tap(t fabricagent.Tap) (uint16, error)
	Frame(f *fabricagent.Frame, note string)
}

// TapEnd adds a tap at the port with this address: it sees the frames that the port sends, and those that arrive there.
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
	t := &Tap{index: i, sink: sink}
	t.recorder, _ = sink.(*Recorder)
	_, t.writes = sink.(*File)
	return t, err
}

// hold sees to it that a block is not used again while the sink may keep the next frame.
func (t *Tap) hold(b *block) {
	switch {
	case t.recorder != nil:
		t.recorder.hold(b)
	case !t.writes:
		b.kept = true
	}
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
