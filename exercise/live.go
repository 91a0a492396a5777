package exercise

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"ibwitness/fabricagent"
	"ibwitness/fabricagent/live"
	"ibwitness/internal/yamlfile"
	"ibwitness/packet"
)

// LiveOptions say on which interface a script runs, where its packets may go, and how fast.
type LiveOptions struct {
	Interface string
	To        []packet.Addr // the only addresses that packets may go to
	Rate      int           // frames a second at most; 0: 1000
}

// liveUntil is how long a run on an interface may last where the script does not say.
const liveUntil = 10 * time.Second

// Times of a run on an interface: how long answers may come after the last packet, and how long it waits at most before it looks again whether something is due.
const (
	liveQuiet = 300 * time.Millisecond
	liveLook  = 100 * time.Millisecond
)

// LiveRun is a script that runs on an interface: a fabricagent.Source of what passes there, which ends with the run. Close ends it too.
type LiveRun struct {
	*Script
	*live.Source

	sender *live.Sender
	began  time.Time
	wake   chan struct{} // something was received
	stop   chan struct{}
	once   sync.Once
	done   sync.WaitGroup

	mu      sync.Mutex
	machine *Machine
	ring    *ring
	heard   heardCounts
	err     error
}

// Live begins a run of the script on an interface. It fails, with a *yamlfile.LineError for each mistake, where packets would go to an address that was not named, and
// where the script has a wire of its own or a partner; and where the interface cannot be opened.
func (s *Script) Live(o LiveOptions) (*LiveRun, error) {
	if err := s.sendable(o.To); err != nil {
		return nil, err
	}
	sender, err := live.OpenSender(live.SendOptions(o))
	if err != nil {
		return nil, err
	}
	source, err := live.Open(live.Options{Interfaces: []string{o.Interface}, Promiscuous: true})
	if err != nil {
		return nil, errors.Join(err, sender.Close())
	}
	r := &LiveRun{
		Script: s, Source: source, sender: sender, began: time.Now(), wake: make(chan struct{}, 1), stop: make(chan struct{}),
		machine: newMachine(s, s.Ethernet.sources(), 0), ring: &ring{most: s.Memory},
	}
	for _, t := range source.Taps() {
		_, _ = r.ring.Tap(t)
	}
	r.done.Add(1)
	go r.send()
	return r, nil
}

// sendable checks that a script can run on an interface, and sends only to addresses that were named.
func (s *Script) sendable(to []packet.Addr) error {
	r := yamlfile.Reader{Package: "exercise", File: s.File}
	if s.Ethernet == nil {
		return fmt.Errorf("exercise: %s: an interface is one of Ethernet, and the script is for a native link: give it the key ethernet in place of link", s.File)
	}
	for i := range s.Streams {
		x := &s.Streams[i]
		if x.Partner {
			r.Fail(x.Line, "stream %q is one of the partner: on an interface a device is there in its place; remove the stream", x.Name)
			continue
		}
		for k := range x.Steps {
			if p := x.Steps[k].Packet; p != nil && p.Form != asBytes && !slices.Contains(to, p.To) {
				r.Fail(p.Line, "a packet goes to %v, which was not named: give --to %v if that is meant", p.To, p.To)
			}
		}
	}
	return r.Err()
}

// now is the time since the beginning.
func (r *LiveRun) now() int64 { return time.Since(r.began).Nanoseconds() }

// send sends what is due until the end of the run.
func (r *LiveRun) send() {
	defer r.done.Done()
	defer r.Source.Stop()
	until := r.Until
	if until == 0 {
		until = liveUntil.Nanoseconds()
	}
	for r.now() < until {
		a, next, over := r.step()
		switch {
		case a.Packet != nil:
			if err := r.sender.Send(a.Data); err != nil {
				r.fail(err)
				return
			}
		case over:
			r.rest(liveQuiet)
			return
		case !r.rest(min(time.Duration(max(next-r.now(), 0)), time.Duration(until-r.now()), liveLook)):
			return
		}
		select {
		case <-r.stop:
			return
		default:
		}
	}
}

// step takes what is due, and says when something is due next, and whether all is over.
func (r *LiveRun) step() (a Action, next int64, over bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.machine.sent >= r.Packets {
		return a, never, true
	}
	a, _ = r.machine.Step(r.now())
	return a, r.machine.Next(), r.machine.Ended()
}

// rest waits, but no longer than until something is received; false at the end of the run.
func (r *LiveRun) rest(d time.Duration) bool {
	t := time.NewTimer(max(d, 0))
	defer t.Stop()
	if d == liveQuiet { // all has been sent: what comes makes no difference
		select {
		case <-t.C:
			return true
		case <-r.stop:
			return false
		}
	}
	select {
	case <-t.C:
	case <-r.wake:
	case <-r.stop:
		return false
	}
	return true
}

func (r *LiveRun) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
}

// Next returns the next batch of what passes. At the end it returns what ended the run, once, and then io.EOF.
func (r *LiveRun) Next() (*fabricagent.Batch, error) {
	b, err := r.Source.Next()
	if b != nil {
		r.hears(b)
	}
	if err == nil {
		return b, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil { // what the source has to say is of the same cause
		err, r.err = r.err, nil
	}
	return b, err
}

// hears keeps the frames of a batch, and tells the streams what has come.
func (r *LiveRun) hears(b *fabricagent.Batch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range b.Frames {
		f := b.Frames[i]
		f.Data = slices.Clone(f.Data)
		r.ring.Frame(&f, "")
		if f.Way == packet.WayOut {
			continue
		}
		h := hearFrame(&f)
		r.heard.count(h)
		r.machine.Hear(r.now(), false, h)
	}
	if len(b.Frames) > 0 {
		select {
		case r.wake <- struct{}{}:
		default:
		}
	}
}

// Taps returns the interface, as one of the script.
func (r *LiveRun) Taps() []fabricagent.Tap {
	list := slices.Clone(r.Source.Taps())
	for i := range list {
		list[i].File = r.File
	}
	return list
}

// Near is the address of the exerciser, at which the tap is.
func (r *LiveRun) Near() []packet.Addr { return []packet.Addr{r.Ethernet.Exerciser.Addr} }

// Result is what the run has done up to now.
func (r *LiveRun) Result() *Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.machine.ended(&r.heard, r.ring, r.Packets)
}

// WriteCapture writes what is in the receive memory as a pcapng.
func (r *LiveRun) WriteCapture(w io.Writer) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ring.write(w)
}

// Close ends the run: no frame is sent after it has returned. It closes the interface.
func (r *LiveRun) Close() error {
	r.once.Do(func() { close(r.stop) })
	r.done.Wait()
	return errors.Join(r.sender.Close(), r.Source.Close())
}
