package exercise

import (
	"io"

	"ibwitness/fabricagent"
	"ibwitness/fabricagent/sim"
	"ibwitness/packet"
)

// Epoch is when a simulated run begins, in nanoseconds since the Unix epoch: 2026-01-01 00:00 UTC.
const Epoch = 1_767_225_600_000_000_000

// Run is a script that runs on simulated time: who reads its Source drives it.
type Run struct {
	*Script
	// Source delivers what the tap at the exerciser's port sees.
	Source *sim.Recorder

	until   int64
	clock   *sim.Clock
	machine *Machine
	ring    *ring
	tick    func()
	at      int64 // when tick is to be called next
	idle    func() bool
	quiet   int64 // how long a run goes on after all has been sent
	rested  int64 // since when there is nothing to do; -1: there is
	link    *linkRun
	heard   heardCounts
}

// heardCounts is what was received.
type heardCounts struct {
	packets, flows, damaged uint64
}

// Start begins a run of the script on simulated time.
func (s *Script) Start() (*Run, error) {
	r := &Run{Script: s, clock: sim.NewClock(Epoch), ring: &ring{most: s.Memory}, at: never, rested: -1, until: s.Until}
	if r.until == 0 {
		r.until = defaultUntil
	}
	r.Source = sim.NewRecorder(s.File, r.step)
	start := r.onEthernet
	if s.Link != nil {
		start = r.onLink
	}
	if err := start(); err != nil {
		return nil, err
	}
	r.due()
	return r, nil
}

// now is the time since the beginning.
func (r *Run) now() int64 { return r.clock.Now() - Epoch }

// due sees to it that tick is called when something is due.
func (r *Run) due() {
	at := r.machine.Next()
	if r.link != nil {
		at = min(at, r.link.deadline())
	}
	r.call(at)
}

// call has tick be called at a time.
func (r *Run) call(at int64) {
	if at == never || at >= r.at && r.at > r.now() {
		return
	}
	r.at = max(at, r.now())
	r.clock.After(r.at-r.now(), func() {
		if r.now() >= r.at {
			r.at = never
		}
		r.tick()
	})
}

// step goes on to what happens next; false at the end.
func (r *Run) step() bool {
	next, ok := r.clock.Next()
	return ok && next <= Epoch+r.until && r.machine.sent < r.Packets && !r.over() && r.clock.Step()
}

// over reports whether all has been sent, and what may come of it has come.
func (r *Run) over() bool {
	if !r.machine.Ended() || r.idle != nil && !r.idle() {
		r.rested = -1
		return false
	}
	if r.rested < 0 {
		r.rested = r.now()
	}
	return r.now() > r.rested+r.quiet
}

// count counts what was received.
func (c *heardCounts) count(h *Heard) {
	switch {
	case h.wrong("end"), h.wrong("icrc"), h.wrong("vcrc"), h.wrong("lpcrc"):
		c.damaged++
	case h.Flow != nil:
		c.flows++
	case h.Packet != nil:
		c.packets++
	}
}

// Close ends the run.
func (r *Run) Close() error { return r.Source.Close() }

// WriteCapture writes what is in the receive memory as a pcapng.
func (r *Run) WriteCapture(w io.Writer) error { return r.ring.write(w) }

// Near are the addresses of the exerciser, at which the tap is.
func (r *Run) Near() []packet.Addr {
	if r.Link != nil {
		return []packet.Addr{r.machine.sources[0].addr}
	}
	return []packet.Addr{r.Ethernet.Exerciser.Addr}
}

// onEthernet has the run be on simulated Ethernet, where nobody answers but the streams of the partner.
func (r *Run) onEthernet() error {
	r.machine = newMachine(r.Script, r.Ethernet.sources(), 0)
	for _, sink := range []sim.Sink{r.Source, r.ring} {
		if _, err := sink.Tap(fabricagent.Tap{Interface: "exerciser", Link: fabricagent.LinkEthernet}); err != nil {
			return err
		}
	}
	r.tick = func() {
		for {
			a, ok := r.machine.Step(r.now())
			if !ok {
				break
			}
			if a.Packet != nil {
				r.onWire(a.Data, a.Partner)
			}
		}
		r.due()
	}
	return nil
}

// onWire has a frame pass the tap, and come to the other station.
func (r *Run) onWire(data []byte, partner bool) {
	f := fabricagent.Frame{Time: r.clock.Now(), Link: fabricagent.LinkEthernet, Len: uint32(len(data)), Data: data}
	r.Source.Frame(&f, "")
	r.ring.Frame(&f, "")
	h := hearFrame(&f)
	if partner {
		r.heard.count(h)
	}
	r.machine.Hear(r.now(), !partner, h)
}

// hearFrame makes out what has come on Ethernet.
func hearFrame(f *fabricagent.Frame) *Heard {
	h := &Heard{Data: f.Data}
	if p := new(packet.Packet); fabricagent.Decode(f, p) == fabricagent.RDMA {
		h.decoded(p)
	}
	return h
}

// sources are where packets of exerciser and partner come from.
func (e *Ethernet) sources() [2]source {
	return [2]source{
		{addr: e.Exerciser.Addr, mac: e.Exerciser.MAC, peer: e.Partner.MAC, v1: e.RoCEv1, rate: wireRate},
		{addr: e.Partner.Addr, mac: e.Partner.MAC, peer: e.Exerciser.MAC, v1: e.RoCEv1, rate: wireRate},
	}
}
