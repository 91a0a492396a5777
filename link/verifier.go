package link

import (
	"ibwitness/packet"
	"ibwitness/rule"
)

// lanes are the data lanes; VL 15 is not flow controlled.
const lanes = 15

// Verifier follows links, each from what its taps show in the order of time. It has no clock, and is not safe for concurrent use.
type Verifier struct {
	Rec   rule.Recorder
	lossy bool
	links map[uint16]*wire
}

// wire is one link.
type wire struct {
	ports [2]port
	last  int64 // time of the newest event
	limit int64 // how long a port may be silent on a lane, in nanoseconds; 0: not known
}

// port is one port of a link, and what it sent.
type port struct {
	addr     packet.Addr
	peer     packet.Addr
	state    state
	physical bool   // the tap tells of its physical state
	fresh    bool   // it was seen to come up
	frame    uint64 // of its newest flow control packet
	since    int64  // when its first flow control packet came
	due      int64  // no lane is late before
	lanes    [lanes]lane
}

// NewVerifier returns a verifier that has seen nothing yet.
func NewVerifier() *Verifier { return &Verifier{links: map[uint16]*wire{}} }

// Dropped tells that the capture lost frames: what is missing from now on proves nothing.
func (v *Verifier) Dropped() { v.lossy = true }

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
	w.limit = e.Mark.interval()
	v.late(w, e)
	from := e.Mark.Port & 1
	s, r := &w.ports[from], &w.ports[1-from]
	switch e.Kind {
	case Data:
		v.data(e, w, s, r)
	case Packet:
		v.flow(e, w, s, r)
	case Physical:
		v.train(e, w, s)
	}
	w.last = max(w.last, e.Time)
}

// covered counts that a rule was exercised.
func (v *Verifier) covered(ids ...rule.ID) {
	for _, id := range ids {
		v.Rec.Cover[id].Exercised++
	}
}

// verdict is one finding in the making.
type verdict struct {
	rule             rule.ID
	class            rule.Class
	role             rule.Role
	expected, actual string
	detail           string
	evidence         uint64 // a frame; 0: none
}

// report makes a finding on an event against a port.
func (v *Verifier) report(e *Event, s *port, d verdict) {
	f := rule.Finding{Rule: d.rule, Class: d.class, Time: e.Time, Tap: e.Tap, Frame: e.Frame}
	if e.Data != nil {
		f = rule.At(d.rule, d.class, e.Data)
	}
	if d.evidence != 0 {
		f.Evidence = []uint64{d.evidence}
	}
	f.Expected, f.Actual, f.Detail = d.expected, d.actual, d.detail
	f.Accused, f.Peer = rule.Endpoint{Role: d.role, Addr: s.addr}, rule.Endpoint{Addr: s.peer}
	v.Rec.Add(f)
}

func proven(ok bool) rule.Class {
	if ok {
		return rule.Violation
	}
	return rule.Unproven
}

// ahead is how far count a is ahead of b.
func ahead(a, b uint16) uint16 { return (a - b) & (Modulus - 1) }
