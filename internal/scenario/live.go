package scenario

import (
	"fmt"
	"sync/atomic"
	"time"

	"ibwitness/cq"
	"ibwitness/fabricagent"
	"ibwitness/fabricagent/live"
	"ibwitness/hcaagent"
	"ibwitness/hcaagent/soft"
	"ibwitness/packet"
	"ibwitness/qp"
)

// Live is a real adapter that takes the place of one of a scenario, which then runs in real time: the other one, the network between them with its errors, and the taps
// stay as they are.
type Live struct {
	HCA string // whose place it takes
	// Open makes a consumer of the adapter, which tells told of events that no verb tells of, from any goroutine.
	Open func(told func(*cq.Event)) (Consumer, error)
	Wire *live.Port // the tester's end of the network
	// Tester and Device are the addresses of both ends.
	Tester, Device       packet.Addr
	TesterMAC, DeviceMAC [6]byte
	Stop                 func() bool // asked now and then whether to end; nil: never
}

// Consumer drives a real adapter.
type Consumer interface {
	hcaagent.Control
	hcaagent.Query
	Limits() qp.Limits
}

// In real time: how long nothing may happen before the run ends where nothing is left to do, and how long it waits at most before it looks for events again.
const (
	liveQuiet = int64(time.Second)
	liveLook  = int64(2 * time.Millisecond)
)

// player has a real adapter play its part.
type player struct {
	Consumer
	*Live
	r      *Run
	told   chan cq.Event
	missed atomic.Bool        // an event found no room in it
	send   func(frame []byte) // into the network of the scenario
	last   int64              // when something happened
	err    error              // of the wire
}

// mostTold is how many events of a real adapter may wait.
const mostTold = 1 << 14

// prepare gives the adapters of the scenario the addresses of both ends.
func (l *Live) prepare(s *Scenario) error {
	h := s.HCA(l.HCA)
	switch {
	case h == nil:
		return fmt.Errorf("scenario: %s has no HCA %q: give the name of one that the device is to be", s.File, l.HCA)
	case len(s.HCAs) != 2:
		return fmt.Errorf("scenario: %s has %d HCAs: a real device can take the place of one of two", s.File, len(s.HCAs))
	case s.native():
		return fmt.Errorf("scenario: %s is of InfiniBand links: a real device is reached by Ethernet; give the HCAs addresses of IPv4", s.File)
	case h.Fault != "":
		return fmt.Errorf("scenario: %s gives %s the fault %s, which a real device cannot be given: remove it", s.File, h.Name, h.Fault)
	}
	for i := range s.HCAs {
		if x := &s.HCAs[i]; x.Name == l.HCA {
			x.Addr = l.Device
		} else {
			x.Addr = l.Tester
			s.Taps, s.Near = []string{x.Name}, []string{x.Name}
		}
	}
	return nil
}

// place puts the real adapter in its place, or an adapter in software in another one.
func (p *player) place(opt soft.Options) (adapter, error) {
	if opt.Addr != p.Device {
		return soft.New(opt)
	}
	p.send = opt.Send
	consumer, err := p.Open(func(e *cq.Event) {
		select {
		case p.told <- *e:
		default:
			p.missed.Store(true)
		}
	})
	p.Consumer = consumer
	return p, err
}

// Receive takes a frame to the adapter.
func (p *player) Receive(frame []byte) {
	b := append([]byte(nil), frame...)
	copy(b, p.DeviceMAC[:])
	copy(b[6:], p.TesterMAC[:])
	if err := p.Wire.Send(b); err != nil && p.err == nil {
		p.err = err
	}
}

// Resume is not needed: the adapter has a port of its own.
func (p *player) Resume() {}

// Shown is 0: a fault of a real adapter has no name.
func (p *player) Shown() uint64 { return 0 }

// step goes on to what happens next, in the network or by the clock.
func (p *player) step() bool {
	r := p.r
	for {
		if p.missed.Load() && p.err == nil {
			p.err = fmt.Errorf("scenario: the device has told of more than %d events at once, so that some were missed: have it work less at a time", mostTold)
		}
		if p.err != nil {
			r.problems = append(r.problems, p.err)
			return false
		}
		if p.Stop != nil && p.Stop() {
			return false
		}
		select {
		case e := <-p.told:
			p.tells(&e)
			return true
		default:
		}
		due, timed := r.Clock.Next()
		until := max(r.Clock.Now()+liveLook, time.Now().UnixNano()-liveLook)
		if timed {
			until = min(until, due)
		}
		f, err := p.Wire.Next(until)
		switch {
		case err != nil:
			p.err = err
		case f != nil && (f.Way == packet.WayOut || !p.ours(f)):
		case f != nil:
			r.Clock.Run(max(r.Clock.Now(), f.Time))
			p.last = r.Clock.Now()
			p.send(f.Data)
			return true
		case timed && due <= until:
			p.last = due
			return r.Clock.Step()
		default:
			r.Clock.Run(max(r.Clock.Now(), until))
			if until > p.last+liveQuiet && !timed && !p.busy() || until > r.began+r.Until {
				return false
			}
		}
	}
}

// ours reports whether a frame goes from the device to the tester.
func (p *player) ours(f *fabricagent.Frame) bool {
	var x packet.Packet
	return fabricagent.Decode(f, &x) == fabricagent.RDMA && x.Src == p.Device && x.Dst == p.Tester
}

// busy reports whether the device has requests to send that have not completed.
func (p *player) busy() bool {
	for _, q := range p.r.qps {
		if q.Addr != p.Device {
			continue
		}
		if sends, _, err := p.Outstanding(ctx, q.id); err == nil && sends > 0 {
			p.last = p.r.Clock.Now() // look once more later
			return true
		}
	}
	return false
}

// tells takes an event of the device that no verb tells of.
func (p *player) tells(e *cq.Event) {
	r := p.r
	d := r.devices[p.HCA]
	e.Time = r.Clock.Now()
	if r.told() {
		d.Tell(e)
	}
	if e.Kind == cq.EvNotify {
		r.notify(d)(e.CQ)
	}
}
