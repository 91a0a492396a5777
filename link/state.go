package link

import (
	"fmt"

	"ibwitness/rule"
)

// state is what is known of the state of a port's link layer (7.2.7).
type state uint8

const (
	unknown    state = iota
	down             // the physical layer is not up
	started          // it has just come up
	initialize       // LinkInitialize: its flow control packets say init
	up               // LinkArm or LinkActive: they say normal
)

// The update interval (7.9.4†): a flow control packet on each lane before so many symbol times have passed. A clock may be off, and the packet that
// the port is sending ends first.
const (
	interval = 65536
	clocks   = interval * 3 / 100
	longest  = 4222
)

// interval is the update interval in nanoseconds, or 0 where the time of a symbol is not known.
func (m *Mark) interval() int64 { return (interval + clocks + longest) * int64(m.Symbol) / 1000 }

// recovering is the physical state LinkErrorRecovery.
const recovering = 6

// settling is how long a wrong count may have its effects: until a right one has come to the other port, and what that port says of it has passed the tap.
func (w *wire) settling() int64 { return max(2*w.limit, 1_000_000) }

// operand judges the operand of a flow control packet, and takes the state of the port from it (rule LNK-FCP-003).
func (v *Verifier) operand(e *Event, w *wire, s *port) {
	v.covered(rule.LNKFCP003)
	d := rule.Verdict{Rule: rule.LNKFCP003, Class: rule.Violation, Role: rule.Sender, Earlier: rule.Frame{Number: s.frame, Tap: e.Tap}}
	if s.state == down {
		v.covered(rule.LNKST005)
		d.Rule, d.Class = rule.LNKST005, rule.Proven(!v.lossy)
		d.Expected, d.Actual = "nothing from a port that is down", "a flow control packet"
		v.report(e, s, d)
		return
	}
	switch {
	case e.FC.Op == Normal && s.state != up:
		// Lanes that it told of before may not be operational any more.
		for i := range s.lanes {
			s.lanes[i].late = true
		}
		was := s.state
		s.state = up
		if was != started {
			return
		}
		d.Expected, d.Actual = "operand init: the port has just come up", "operand normal"
		d.Class = rule.Proven(!v.lossy)
	case e.FC.Op == Normal:
		return
	case s.state == up && !s.physical && e.FC.FCTBS == 0:
		w.reset()
		s.state, s.fresh = initialize, true
		return
	case s.state == up:
		d.Expected, d.Actual = "operand normal: the port was not down since it sent such", "operand init"
		d.Class = rule.Proven(!v.lossy)
	default:
		s.state, s.fresh = initialize, true
		return
	}
	v.report(e, s, d)
}

// physicalState judges and notes the physical state of a port (rule LNK-ST-006).
func (v *Verifier) physicalState(e *Event, w *wire, s *port) {
	v.covered(rule.LNKST006)
	if e.State == 0 || e.State > 7 {
		v.report(e, s, rule.Verdict{
			Rule: rule.LNKST006, Class: rule.Violation, Role: rule.Sender,
			Expected: "a physical state of 1 to 7", Actual: fmt.Sprintf("%d", e.State),
		})
		return
	}
	s.physical = true
	switch {
	case e.State == recovering: // its state stays, if the link recovers
		w.reset()
		s.state = unknown
	case e.State != LinkUp:
		w.reset()
		s.state = down
	case s.state == down:
		s.state = started
	}
}

// reset forgets the credits of a link, which begin again when it comes up again.
func (w *wire) reset() {
	for i := range w.ports {
		s := &w.ports[i]
		s.lanes, s.fresh, s.since, s.due = [Lanes]lane{}, false, 0, 0
		if s.state > started {
			s.state = unknown
		}
	}
}

// updateInterval judges that no port is silent on a lane for longer than the update interval (rule LNK-FCP-008).
func (v *Verifier) updateInterval(w *wire, e *Event) {
	if w.limit == 0 {
		return
	}
	if e.Time-w.last > w.limit {
		w.paused = e.Time
	}
	for i := range w.ports {
		s := &w.ports[i]
		if e.Time <= s.due || s.state == down {
			continue
		}
		// Where the link has gone down, what was on its way still comes from the other port.
		limit := w.limit
		if i != int(e.Mark.Port&1) {
			limit *= 2
		}
		v.updateIntervalOfLanes(w, s, e, limit)
	}
}

// updateIntervalOfLanes judges the lanes of a port that was due, each of which may be silent for limit, and sets when the port is due next.
func (v *Verifier) updateIntervalOfLanes(w *wire, s *port, e *Event, limit int64) {
	comesUp := e.Kind == Physical || e.Kind == Packet && (!e.FC.Good || e.FC.Op == Init && e.FC.FCTBS == 0)
	excused := comesUp && (s.state == up || e.Time-w.last > w.limit)
	s.due = e.Time + w.limit
	for vl := range s.lanes {
		l := &s.lanes[vl]
		if l.times == 0 || l.late {
			continue
		}
		v.covered(rule.LNKFCP008)
		if e.Time-l.time <= limit || excused {
			s.due = min(s.due, l.time+w.limit)
			continue
		}
		l.late = true
		v.missingFlowControl(w, s, e, vl)
	}
}

// missingFlowControl reports that a port has sent no flow control packet on a lane within the update interval.
func (v *Verifier) missingFlowControl(w *wire, s *port, e *Event, vl int) {
	l := &s.lanes[vl]
	d := rule.Verdict{
		Rule: rule.LNKFCP008, Class: rule.Proven(!v.lossy && l.time >= w.paused), Role: rule.Receiver, Earlier: rule.Frame{Number: l.frame, Tap: e.Tap},
		Expected: fmt.Sprintf("a flow control packet on VL %d within %d symbol times", vl, interval),
		Actual:   "none for " + rule.Span(e.Time-l.time),
	}
	if d.Class == rule.Unproven {
		d.Detail = "nothing was seen of the link meanwhile: the capture may have paused"
		if v.lossy {
			d.Detail = "the capture lost frames"
		}
	}
	quiet := *e
	quiet.Data = nil // the packet at hand is not the one that is missing
	v.report(&quiet, s, d)
}
