package scenario

import (
	"io"
	"sync"

	"ibwitness/cq"
	"ibwitness/fabricagent"
)

// Ahead is a run that goes on in a goroutine of its own while its packets are verified: a fabricagent.Source of what Source delivers. The Logs of the run
// hand over the events with the packets, in the same places as without it. Nothing else of the run may be used before Close has returned.
type Ahead struct {
	run  *Run
	next chan []portion
	free chan []portion
	here []portion // of next, those that are left
	used []portion // the room of here
	stop chan struct{}
	once sync.Once
	goes sync.WaitGroup
}

// portion is a batch and the events that came with it, by HCA.
type portion struct {
	batch  *fabricagent.Batch
	err    error
	events [][]*cq.Event
}

const (
	// together is how many batches are handed over at once: to wake the goroutine that waits for them takes as long as some packets.
	together = 4
	// mostAhead is how often so many are waiting at most.
	mostAhead = 2
)

// Ahead has the run go on by itself until Close, or until its end.
func (r *Run) Ahead() *Ahead {
	a := &Ahead{run: r, next: make(chan []portion, mostAhead), free: make(chan []portion, mostAhead+2), stop: make(chan struct{})}
	for range cap(a.free) {
		list := make([]portion, together)
		for i := range list {
			list[i].events = make([][]*cq.Event, len(r.HCAs))
		}
		a.free <- list
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
	for err := error(nil); err == nil; {
		list, n := (<-a.free)[:together], 0
		for ; n < together && err == nil; n++ {
			p := &list[n]
			p.batch, err = a.run.Source.Next()
			p.err = err
			for i, h := range a.run.HCAs {
				d := a.run.devices[h.Name]
				p.events[i], d.fresh = d.fresh, p.events[i][:0]
			}
		}
		select {
		case a.next <- list[:n]:
		case <-a.stop:
			return
		}
	}
}

// Next returns the next batch of frames, and has the logs hand over the events that came with it.
func (a *Ahead) Next() (*fabricagent.Batch, error) {
	if len(a.here) == 0 {
		if a.used != nil {
			a.free <- a.used
		}
		a.here = <-a.next
		if a.used = a.here; a.here == nil {
			return nil, io.EOF
		}
	}
	p := &a.here[0]
	a.here = a.here[1:]
	for i, h := range a.run.HCAs {
		d := a.run.devices[h.Name]
		d.ready = append(d.ready, p.events[i]...)
	}
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
