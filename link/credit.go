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
		s.noteUnreadable(e)
		return
	}
	if !f.Good {
		v.report(e, s, rule.Verdict{
			Rule: rule.LNKFCP001, Class: rule.Proven(e.Way == packet.WayOut), Role: rule.Sender, Detail: damagedMaybe(e),
			Expected: "an LPCRC that matches the packet", Actual: fmt.Sprintf("LPCRC 0x%04x", f.LPCRC),
		})
		s.noteUnreadable(e)
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
	v.blocksSent(e, w, s, l)
	v.creditLimit(e, s, l, &r.lanes[f.VL])
	if s.since == 0 {
		s.since = e.Time
	}
	l.frame, l.time, l.late = e.Frame, e.Time, false
	l.times++
	s.frame = e.Frame
	s.due = min(s.due, e.Time+w.limit)
}

// noteUnreadable notes a flow control packet of the port that nobody can read: it may have been of any lane, and the first of its state.
func (s *port) noteUnreadable(e *Event) {
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

// blocksSent compares FCTBS with the blocks that were seen (rules LNK-FCP-004, -010 and -012).
func (v *Verifier) blocksSent(e *Event, w *wire, s *port, l *lane) {
	f := &e.FC
	d := ahead(f.FCTBS, l.sent)
	ok := !l.counted || d <= l.loose || d < Window && l.damaged
	again := l.counted && l.doubt && ahead(f.FCTBS, l.other) <= l.loose
	switch {
	case f.Op == Init:
		v.initialFCTBS(e, w, s, l, l.counted && ok)
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
	if l.doubt {
		v.wrongBlocksSent(e, s, l, sent, d)
	}
}

// initialFCTBS judges FCTBS of a flow control packet with operand init (rule LNK-FCP-010). counted says that FCTBS is the number of blocks that were seen.
func (v *Verifier) initialFCTBS(e *Event, w *wire, s *port, l *lane, counted bool) {
	v.covered(rule.LNKFCP010)
	if e.FC.FCTBS != 0 && !counted && s.state == initialize {
		v.report(e, s, rule.Verdict{
			Rule: rule.LNKFCP010, Class: rule.Violation, Role: rule.Sender,
			Expected: "FCTBS 0 while the link comes up", Actual: fmt.Sprintf("%d", e.FC.FCTBS),
		})
		l.shaken = e.Time + w.settling()
	}
}

// wrongBlocksSent reports an FCTBS other than the number of blocks that were seen. more is how many more it says, modulo Modulus: so many may have been lost before the tap.
func (v *Verifier) wrongBlocksSent(e *Event, s *port, l *lane, sent, more uint16) {
	d := rule.Verdict{
		Rule: rule.LNKFCP004, Class: rule.Violation, Role: rule.Sender, Earlier: rule.Frame{Number: l.frame, Tap: e.Tap},
		Expected: fmt.Sprintf("FCTBS %d: the blocks sent on VL %d", sent, e.FC.VL), Actual: fmt.Sprintf("%d", e.FC.FCTBS),
	}
	if more < Window {
		d.Class = rule.Proven(!v.lossy)
		if e.Way != packet.WayOut {
			d.Rule, d.Class, d.Role = rule.LNKFCP012, rule.Unproven, rule.Network
			d.Detail = "packets were lost between the port and the tap, or the port miscounts"
		}
	}
	v.report(e, s, d)
}

// creditLimit compares FCCL with what the other port has sent on its lane p, and with the offer before (rules LNK-FCP-005, -006 and -011).
//
// What port s has accepted is at most what has passed the tap, wherever that is: its ABR is at most p.sent. And it is at least what it had offered
// before, as long as the other port keeps to its right to transmit, so that an offer never goes back.
func (v *Verifier) creditLimit(e *Event, s *port, l, p *lane) {
	fccl := e.FC.FCCL
	shaken := e.Time < p.shaken
	back := l.offered && !l.dubious && l.op == e.FC.Op && !shaken && ahead(fccl, l.fccl) > Window
	l.op = e.FC.Op
	l.misled = l.misled && ahead(fccl, l.misleads) > Window
	v.covered(rule.LNKFCP011)
	d := rule.Verdict{}
	if back {
		d.Rule, d.Class = rule.LNKFCP011, rule.Proven(!v.lossy)
		d.Expected = fmt.Sprintf("FCCL %d as before, or more", l.fccl)
	} else if !shaken && (!l.misled || l.dubious) {
		v.freeBlocks(e, l, p, &d)
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
		d.Role, d.Earlier, d.Actual = rule.Receiver, rule.Frame{Number: l.frame, Tap: e.Tap}, fmt.Sprintf("FCCL %d", fccl)
		v.report(e, s, d)
	}
	l.dubious, l.misled, l.misleads = true, !back, fccl
}

// freeBlocks judges how many blocks are free by an offer on lane l, beyond what the other port has sent on lane p: at most the window, and what was free when the link
// came up (rules LNK-FCP-005 and -006). What is wrong it writes into d.
func (v *Verifier) freeBlocks(e *Event, l, p *lane, d *rule.Verdict) {
	if !p.counted || p.over || beyond(e.FC.FCCL, p.sent) {
		return
	}
	free, most := ahead(e.FC.FCCL, p.sent), uint16(Window)
	switch {
	case free > Window+p.loose:
		d.Class = rule.Proven(!v.lossy)
		d.Expected = fmt.Sprintf("at most ABR %d and %d blocks", p.sent&(Modulus-1), Window)
	case e.FC.Op == Init && p.sent == 0:
		l.room = max(l.room, free)
		return
	case l.room != 0 && l.room < Window && free > l.room+p.loose:
		most = l.room
		d.Class = rule.Unproven
		d.Expected = fmt.Sprintf("at most ABR %d and the %d blocks that were free when the link came up", p.sent&(Modulus-1), l.room)
		d.Detail = "a receiver may have got more room since the link came up"
	default:
		return
	}
	if d.Rule = rule.LNKFCP006; free <= most+p.loose+p.lost {
		d.Rule = rule.LNKFCP005
	}
}
