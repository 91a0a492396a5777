package link

import (
	"fmt"

	"ibwitness/packet"
	"ibwitness/rule"
)

// lane is what a port sends on one virtual lane, and what it offers the other port on it.
type lane struct {
	// sent is how many blocks of data packets the port has sent on the lane, modulo Modulus: FCTBS of its newest flow control packet, and what came
	// since. It is also the ABR of the other port, as of what has passed the tap.
	sent    uint16
	loose   uint16 // of these packets, how many take one block more if the VCRC counts
	lost    uint16 // blocks of damaged packets since that flow control packet: the port has sent them, and the other one discards them
	other   uint16 // what sent would be, had the newest FCTBS not been found wrong, while doubt
	counted bool   // sent is known
	damaged bool   // a damaged packet since may have been on this lane
	doubt   bool   // the newest FCTBS was found wrong
	shaken  int64  // until when the other port's ABR may be wrong, as a wrong FCTBS has set it, and its offers with it
	over    bool   // more was sent than the other port had offered
	refused bool   // it was reported that the lane is not operational

	op       Op     // of the newest flow control packet
	fccl     uint16 // the newest offer
	room     uint16 // the most that was offered while nothing had been sent since the link came up; 0: not known
	offered  bool   // fccl is known
	dubious  bool   // the newest offer was found wrong, and fccl is the one before
	misled   bool   // the other port may still send by a wrong offer, misleads
	misleads uint16
	late     bool   // it was reported that the port is silent on the lane
	times    uint32 // how many flow control packets there were
	frame    uint64 // of the newest one
	time     int64
}

// flow verifies a link packet of port s to port r.
func (v *Verifier) flow(e *Event, w *wire, s, r *port) {
	v.covered(rule.LNKFCP001)
	f := &e.FC
	if e.Size != Size {
		v.report(e, s, rule.Verdict{
			Rule: rule.LNKFCP001, Class: rule.Proven(e.Way == packet.WayOut), Role: rule.Sender, Detail: damagedMaybe(e),
			Expected: fmt.Sprintf("a link packet of %d bytes", Size), Actual: fmt.Sprintf("%d bytes", e.Size),
		})
		s.unread(e)
		return
	}
	if !f.Good {
		v.report(e, s, rule.Verdict{
			Rule: rule.LNKFCP001, Class: rule.Proven(e.Way == packet.WayOut), Role: rule.Sender, Detail: damagedMaybe(e),
			Expected: "an LPCRC that matches the packet", Actual: fmt.Sprintf("LPCRC 0x%04x", f.LPCRC),
		})
		s.unread(e)
		return
	}
	v.covered(rule.LNKFCP002)
	if f.Op > Init {
		v.report(e, s, rule.Verdict{
			Rule: rule.LNKFCP002, Class: rule.Violation, Role: rule.Sender,
			Expected: "operand 0 or 1", Actual: fmt.Sprintf("%d", f.Op),
		})
		return
	}
	v.covered(rule.LNKFCP009)
	if f.VL >= Lanes {
		v.report(e, s, rule.Verdict{
			Rule: rule.LNKFCP009, Class: rule.Violation, Role: rule.Sender,
			Expected: "a data lane, 0 to 14", Actual: fmt.Sprintf("VL %d", f.VL),
		})
		return
	}
	v.operand(e, w, s)
	l := &s.lanes[f.VL]
	v.total(e, w, s, l)
	v.offer(e, s, l, &r.lanes[f.VL])
	if s.since == 0 {
		s.since = e.Time
	}
	l.frame, l.time, l.late = e.Frame, e.Time, false
	l.times++
	s.frame = e.Frame
	s.due = min(s.due, e.Time+w.limit)
}

// unread takes note of a flow control packet of the port that nobody can read: it may have been about any lane, and the first of its state.
func (s *port) unread(e *Event) {
	for i := range s.lanes {
		s.lanes[i].time = e.Time
	}
	if s.since != 0 {
		s.since = e.Time
	}
	if s.state == started || s.state == initialize {
		s.state = unknown
	}
}

// total compares FCTBS with the blocks that were seen (rules LNK-FCP-004, -010 and -012).
func (v *Verifier) total(e *Event, w *wire, s *port, l *lane) {
	f := &e.FC
	d := ahead(f.FCTBS, l.sent)
	ok := !l.counted || d <= l.loose || d < Window && l.damaged
	again := l.counted && l.doubt && ahead(f.FCTBS, l.other) <= l.loose
	switch {
	case f.Op == Init:
		v.covered(rule.LNKFCP010)
		if f.FCTBS != 0 && (!l.counted || !ok) && s.state == initialize {
			v.report(e, s, rule.Verdict{
				Rule: rule.LNKFCP010, Class: rule.Violation, Role: rule.Sender,
				Expected: "FCTBS 0 while the link comes up", Actual: fmt.Sprintf("%d", f.FCTBS),
			})
			l.shaken = e.Time + w.settling()
		}
		ok = true
	case l.counted:
		v.covered(rule.LNKFCP004, rule.LNKFCP012)
	}
	sent := l.sent & (Modulus - 1)
	l.other, l.doubt = l.sent, !ok && !again
	l.sent, l.counted, l.loose, l.lost, l.damaged = f.FCTBS, true, 0, 0, false
	if !ok {
		l.shaken = e.Time + w.settling()
	}
	if !l.doubt {
		return
	}
	want := rule.Verdict{
		Rule: rule.LNKFCP004, Class: rule.Violation, Role: rule.Sender, Earlier: rule.Frame{Number: l.frame, Tap: e.Tap},
		Expected: fmt.Sprintf("FCTBS %d: the blocks sent on VL %d", sent, f.VL), Actual: fmt.Sprintf("%d", f.FCTBS),
	}
	if d < Window {
		want.Class = rule.Proven(!v.lossy)
		if e.Way != packet.WayOut {
			want.Rule, want.Class, want.Role = rule.LNKFCP012, rule.Unproven, rule.Network
			want.Detail = "packets were lost between the port and the tap, or the port miscounts"
		}
	}
	v.report(e, s, want)
}

// offer compares FCCL with what the other port has sent on its lane p, and with the offer before (rules LNK-FCP-005, -006 and -011).
//
// What port s has accepted is at most what has passed the tap, wherever that is: its ABR is at most p.sent. And it is at least what it had offered
// before, as long as the other port keeps to its right to transmit, so that an offer never goes back.
func (v *Verifier) offer(e *Event, s *port, l, p *lane) {
	fccl := e.FC.FCCL
	free := ahead(fccl, p.sent)
	shaken := e.Time < p.shaken
	back := l.offered && !l.dubious && l.op == e.FC.Op && !shaken && ahead(fccl, l.fccl) > Window
	l.op = e.FC.Op
	if l.misled && ahead(fccl, l.misleads) <= Window {
		l.misled = false
	}
	d := rule.Verdict{Role: rule.Receiver, Earlier: rule.Frame{Number: l.frame, Tap: e.Tap}, Actual: fmt.Sprintf("FCCL %d", fccl)}
	v.covered(rule.LNKFCP011)
	switch {
	case back:
		d.Rule, d.Class = rule.LNKFCP011, rule.Proven(!v.lossy)
		d.Expected = fmt.Sprintf("FCCL %d as before, or more", l.fccl)
	case !p.counted || shaken || p.over || beyond(fccl, p.sent) || l.misled && !l.dubious:
	case free > Window+p.loose:
		d.Rule, d.Class = rule.LNKFCP006, rule.Proven(!v.lossy)
		if free <= Window+p.loose+p.lost {
			d.Rule = rule.LNKFCP005
		}
		d.Expected = fmt.Sprintf("at most ABR %d and %d blocks", p.sent&(Modulus-1), Window)
	case e.FC.Op == Init && p.sent == 0:
		l.room = max(l.room, free)
	case l.room != 0 && l.room < Window && free > l.room+p.loose:
		d.Rule, d.Class = rule.LNKFCP006, rule.Unproven
		if free <= l.room+p.loose+p.lost {
			d.Rule = rule.LNKFCP005
		}
		d.Expected = fmt.Sprintf("at most ABR %d and the %d blocks that were free when the link came up", p.sent&(Modulus-1), l.room)
		d.Detail = "a receiver may have got more room since the link came up"
	}
	if p.counted {
		v.covered(rule.LNKFCP006)
		if p.lost > 0 || p.damaged {
			v.covered(rule.LNKFCP005)
		}
	}
	if d.Expected == "" {
		l.fccl, l.offered, l.dubious = fccl, true, false
		return
	}
	if !l.dubious { // else it goes on as it began
		v.report(e, s, d)
	}
	l.dubious, l.misled, l.misleads = true, !back, fccl
}
