package scenario

import (
	"io"
	"sync"

	"ibwitness/fabricagent"
	"ibwitness/hcaagent"
)

// Ahead is a run that goes on in a goroutine of its own while its packets are verified: a fabricagent.Source of what Source delivers. The Logs of the run
// hand over the events with the packets, in the same places as without it. Nothing else of the run may be used before Close has returned.
type Ahead struct {
	run  *Run
	next chan portion
	free chan [][]*hcaagent.Event // for further portions
	stop chan struct{}
	once sync.Once
	goes sync.WaitGroup
}

// portion is a batch and the events that came with it, by HCA.
type portion struct {
	batch  *fabricagent.Batch
	err    error
	events [][]*hcaagent.Event
}

// mostAhead is how many batches the run is ahead of the verification at most.
const mostAhead = 8

// Ahead has the run go on by itself until Close, or until its end.
func (r *Run) Ahead() *Ahead {
	a := &Ahead{run: r, next: make(chan portion, mostAhead), free: make(chan [][]*hcaagent.Event, mostAhead+2), stop: make(chan struct{})}
	for range cap(a.free) {
		a.free <- make([][]*hcaagent.Event, len(r.HCAs))
	}
	for _, h := range r.HCAs {
		if l := r.logs[h.Name]; l.More != nil {
			l.More = r.devices[h.Name].read
		}
	}
	a.goes.Go(a.simulate)
	return a
}

// simulate takes the run to its end.
func (a *Ahead) simulate() {
	defer close(a.next)
	for {
		p := portion{events: <-a.free}
		p.batch, p.err = a.run.Source.Next()
		for i, h := range a.run.HCAs {
			d := a.run.devices[h.Name]
			p.events[i], d.fresh = d.fresh, p.events[i][:0]
		}
		select {
		case a.next <- p:
		case <-a.stop:
			return
		}
		if p.err != nil {
			return
		}
	}
}

// Next returns the next batch of frames, and has the logs hand over the events that came with it.
func (a *Ahead) Next() (*fabricagent.Batch, error) {
	p, ok := <-a.next
	if !ok {
		return nil, io.EOF
	}
	for i, h := range a.run.HCAs {
		d := a.run.devices[h.Name]
		d.ready = append(d.ready, p.events[i]...)
	}
	a.free <- p.events
	return p.batch, p.err
}

// Taps returns the taps.
func (a *Ahead) Taps() []fabricagent.Tap { return a.run.Source.Taps() }

// Progress returns that nothing is known of it.
func (a *Ahead) Progress() (done, total int64) { return 0, 0 }

// Close ends the run where it is.
func (a *Ahead) Close() error {
	a.once.Do(func() { close(a.stop) })
	a.goes.Wait()
	return a.run.Source.Close()
}
