package link

import (
	"ibwitness/packet"
	"ibwitness/rule"
)

// Verifier follows links, each from what its taps show in the order of time. It has no clock, and is not safe for concurrent use.
type Verifier struct {
	Rec   rule.Recorder
	lossy bool
	links map[uint16]*wire

	pausers map[uint16][]*pauser // on Ethernet, by tap
	pausing int64                // until when one of them has somebody pause
}

// wire is one link.
type wire struct {
	ports  [2]port
	last   int64 // time of the newest event
	limit  int64 // how long a port may be silent on a lane, in nanoseconds; 0: not known
	paused int64 // until when nothing was seen of the link for longer than that
}

// port is one port of a link, and what it sent.
type port struct {
	addr     packet.Addr
	peer     packet.Addr
	tap      uint16 // which shows what the port sends
	heard    int64  // when it did last; 0: not yet
	state    state
	physical bool   // the tap records its physical state
	fresh    bool   // it was seen to come up
	frame    uint64 // of its newest flow control packet
	since    int64  // when its first flow control packet came
	due      int64  // no lane is late before
	lanes    [Lanes]lane
}

// NewVerifier returns a verifier that has seen nothing yet.
func NewVerifier() *Verifier { return &Verifier{links: map[uint16]*wire{}} }

// Dropped notes that the capture lost frames: a frame that is missing from now on proves nothing.
func (v *Verifier) Dropped() { v.lossy = true }

// Recover learns all links again where the capture has lost frames: what is missing from then on proves something again.
func (v *Verifier) Recover() {
	if !v.lossy {
		return
	}
	v.lossy, v.pausers, v.pausing = false, nil, 0
	for _, w := range v.links {
		w.forget()
	}
}

// Event verifies what a tap saw.
func (v *Verifier) Event(e *Event) {
	w := v.links[e.Mark.Link]
	if w == nil {
		w = &wire{last: e.Time}
		for i := range w.ports {
			w.ports[i].addr, w.ports[i].peer = packet.LinkAddr(e.Mark.Link, uint8(i)), packet.LinkAddr(e.Mark.Link, uint8(1-i))
		}
		v.links[e.Mark.Link] = w
	}
	from := e.Mark.Port & 1
	s, r := &w.ports[from], &w.ports[1-from]
	if !w.view(e, s, r) {
		return
	}
	w.limit = e.Mark.interval()
	v.updateInterval(w, e)
	switch e.Kind {
	case Data:
		v.data(e, s, r)
	case Packet:
		v.flow(e, w, s, r)
	case Physical:
		v.physicalState(e, w, s)
	}
	w.last = max(w.last, e.Time)
}

// silence is after how long a tap that shows no more of a port gives way to another one, in nanoseconds: several update intervals of the slowest link.
const silence = 5_000_000

// view reports whether the event is to be judged. Where two taps see a link, each packet comes twice, and between the two much may be on its way: what a
// port sends is judged as one tap shows it, and both directions as the same tap does, if there is one that shows them.
func (w *wire) view(e *Event, s, r *port) bool {
	if s.tap != e.Tap && s.heard != 0 {
		both := r.heard != 0 && r.tap == e.Tap
		if !both && e.Time-s.heard <= silence {
			return false
		}
		w.forget()
	}
	s.tap, s.heard = e.Tap, max(e.Time, 1)
	return true
}

// forget forgets all that is known of a link.
func (w *wire) forget() {
	for i := range w.ports {
		p := &w.ports[i]
		*p = port{addr: p.addr, peer: p.peer, tap: p.tap, heard: p.heard}
	}
}

// covered counts that a rule was exercised.
func (v *Verifier) covered(ids ...rule.ID) {
	for _, id := range ids {
		v.Rec.Cover[id].Exercised++
	}
}

// report makes a finding on an event against a port.
func (v *Verifier) report(e *Event, s *port, d rule.Verdict) {
	p := e.Data
	if p == nil {
		p = &packet.Packet{Time: e.Time, Tap: e.Tap, Frame: e.Frame}
	}
	v.Rec.Add(d.On(p, rule.Endpoint{Addr: s.addr}, rule.Endpoint{Addr: s.peer}))
}

// ahead is how far count a is ahead of b.
func ahead(a, b uint16) uint16 { return (a - b) & (Modulus - 1) }
