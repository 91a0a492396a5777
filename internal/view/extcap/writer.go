package extcap

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"ibwitness/fabricagent"
	"ibwitness/internal/view/report"
	"ibwitness/rule"
)

// Writer writes the frames of a run to a pipe once their findings are known, which are their comments. A finding that comes when its frame is written already
// is a comment of the next one, and says which it is of. Found and Tick are called from the goroutine of the run.
type Writer struct {
	settle int64
	most   int
	events bool

	mu       sync.Mutex
	out      *fabricagent.Writer
	queue    []fabricagent.Frame // whose findings may still come
	bytes    int                 // of their data
	written  uint64              // number of the last frame that was written
	early    uint64              // frames that were written before their findings could be known
	comments map[report.Place][]string
	late     []string
	err      error
}

// Options say what is written.
type Options struct {
	Settle time.Duration // for how long a frame waits for its findings
	Memory int           // bytes of frames that may wait; 0: 256 MiB
	Events bool          // comments for legal events too
}

// NewWriter begins a capture of a source's taps.
func NewWriter(w io.Writer, taps []fabricagent.Tap, o Options) (*Writer, error) {
	if o.Memory <= 0 {
		o.Memory = 256 << 20
	}
	x := &Writer{settle: int64(o.Settle), most: o.Memory, events: o.Events, out: fabricagent.NewWriter(w, "ibwitness"), comments: map[report.Place][]string{}}
	for _, t := range taps {
		if _, err := x.out.AddTap(t); err != nil {
			return nil, err
		}
	}
	return x, x.out.Flush()
}

// Add takes frames.
func (x *Writer) Add(list []fabricagent.Frame) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, f := range list {
		f.Data = slices.Clone(f.Data)
		x.queue = append(x.queue, f)
		x.bytes += len(f.Data)
	}
	for x.bytes > x.most && len(x.queue) > 0 {
		x.early++
		x.next()
	}
}

// Found takes findings.
func (x *Writer) Found(list []rule.Finding) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for at, texts := range report.Comments(list, x.events, func(p report.Place) uint64 { return p.Frame }) {
		if at.Frame > x.written {
			x.comments[at] = append(x.comments[at], texts...)
		}
	}
	for i := range list {
		f := &list[i]
		if f.Frame != 0 && f.Frame <= x.written && (x.events || f.Class != rule.Event) {
			x.late = append(x.late, fmt.Sprintf("of frame %d: %s", f.Frame, report.Comment(f)))
		}
	}
}

// Tick writes what has waited long enough.
func (x *Writer) Tick(now int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for len(x.queue) > 0 && x.queue[0].Time < now-x.settle {
		x.next()
	}
	x.fail(x.out.Flush())
}

// next writes the frame that has waited longest.
func (x *Writer) next() {
	f := &x.queue[0]
	at := report.Place{Tap: f.Tap, Frame: f.Number}
	x.fail(x.out.Write(f, slices.Concat(x.comments[at], x.late)...))
	delete(x.comments, at)
	x.late, x.written, x.bytes = nil, f.Number, x.bytes-len(f.Data)
	x.queue[0] = fabricagent.Frame{}
	if x.queue = x.queue[1:]; len(x.queue) == 0 {
		x.queue = nil
	}
}

func (x *Writer) fail(err error) {
	if x.err == nil {
		x.err = err
	}
}

// Err is why no more can be written: where the reader is gone, an error of its pipe.
func (x *Writer) Err() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.err
}

// Close writes the rest. It returns how many frames were written before their findings could be known, since too many waited, and the findings that found no
// frame.
func (x *Writer) Close() (early uint64, left []string, err error) {
	x.Tick(1<<63 - 1)
	return x.early, x.late, x.Err()
}
