package link

import (
	"fmt"

	"ibwitness/packet"
	"ibwitness/rule"
)

// data verifies a data packet of port s to port r: its form on the link, that the state of the port allows it, and the sender's right to
// transmit.
func (v *Verifier) data(e *Event, s, r *port) {
	p := e.Data
	v.covered(rule.LNKLRH001, rule.LNKLRH008, rule.LNKST005)
	switch {
	case s.state == down:
		v.report(e, s, rule.Verdict{
			Rule: rule.LNKST005, Class: rule.Proven(!v.lossy), Role: rule.Sender,
			Expected: "nothing from a port that is down", Actual: "a data packet", Earlier: rule.Frame{Number: s.frame, Tap: e.Tap},
		})
	case p == nil && !e.Mark.Bad:
		v.report(e, s, rule.Verdict{
			Rule: rule.LNKLRH001, Class: rule.Proven(e.Way == packet.WayOut), Role: rule.Sender,
			Expected: "an LRH of 8 bytes", Actual: fmt.Sprintf("%d bytes in all", e.Size), Detail: damagedMaybe(e),
		})
	}
	if p == nil {
		s.damage()
		return
	}
	bad := e.Mark.Bad || p.VCRCState == packet.CRCBad || e.Size != int(p.PktLen)*4+2
	if e.Size&3 != 2 && !e.Mark.Bad {
		v.report(e, s, rule.Verdict{
			Rule: rule.LNKLRH008, Class: rule.Proven(p.VCRCState == packet.CRCGood), Role: rule.Sender,
			Expected: "whole words and a VCRC", Actual: fmt.Sprintf("%d bytes", e.Size),
		})
	}
	if bad {
		s.damage() // its VL and its length may be what is damaged
		if p.VL < Lanes {
			s.lanes[p.VL].lost += uint16(Blocks(int(p.PktLen)*4 + 2))
		}
		return
	}
	if p.VL >= Lanes {
		return
	}
	if s.state == initialize {
		v.report(e, s, rule.Verdict{
			Rule: rule.LNKST002, Class: rule.Violation, Role: rule.Sender,
			Expected: "no data packet from a port in LinkInitialize", Actual: fmt.Sprintf("a data packet on VL %d", p.VL), Earlier: rule.Frame{Number: s.frame, Tap: e.Tap},
		})
	}
	if s.state >= initialize {
		v.covered(rule.LNKST002)
	}
	v.transmit(e, s, r, p)
}

// damage takes note of a data packet that was damaged, on any lane.
func (s *port) damage() {
	for i := range s.lanes {
		s.lanes[i].damaged = true
	}
}

// damagedMaybe says why what came is not proven to be what was sent, unless the tap is at the sender.
func damagedMaybe(e *Event) string {
	if e.Way == packet.WayOut {
		return ""
	}
	return "the packet may have been damaged on the way to the tap"
}

// transmit counts a data packet, and judges that the credits which port r offers allow it (rule LNK-FCP-007). Public sources do not tell whether the
// two bytes of the VCRC count: where they begin a block, both counts are accepted.
func (v *Verifier) transmit(e *Event, s, r *port, p *packet.Packet) {
	l, credit := &s.lanes[p.VL], &r.lanes[p.VL]
	if credit.offered {
		v.covered(rule.LNKVL006)
	}
	blocks := uint16(Blocks(int(p.PktLen) * 4))
	switch {
	case !credit.offered:
		v.unoffered(e, s, r, p)
	case l.counted && !credit.dubious && e.Time >= l.shaken:
		v.covered(rule.LNKFCP007)
		room := ahead(credit.fccl, l.sent)
		over := beyond(credit.fccl, l.sent+blocks)
		over = over && !(credit.misled && !beyond(credit.misleads, l.sent+blocks))
		switch {
		case !over && ahead(credit.fccl, l.sent+blocks) <= Window:
			l.over = false
		case over && !l.over:
			l.over = true
			v.report(e, s, rule.Verdict{
				Rule: rule.LNKFCP007, Class: rule.Proven(!v.lossy), Role: rule.Sender, Earlier: rule.Frame{Number: credit.frame, Tap: e.Tap},
				Expected: fmt.Sprintf("at most %d blocks on VL %d", room, p.VL), Actual: fmt.Sprintf("%d blocks", blocks),
			})
		}
	}
	l.sent += blocks
	l.other += blocks
	if p.PktLen*4%Block == 0 {
		l.loose++
	}
}

// beyond reports whether a count is beyond an offer. One that is after it by more than a window is that of a port of which packets were damaged before they
// came to the tap.
func beyond(fccl, sent uint16) bool { return ahead(fccl, sent) > Window*3/2 }

// unoffered judges a data packet on a lane for which the receiving port offers no credits though it does for others: the lane is not operational
// (rule LNK-VL-006).
func (v *Verifier) unoffered(e *Event, s, r *port, p *packet.Packet) {
	other := r.lanes[0].times >= 2 && r.fresh || r.since != 0 && e.Time-r.since > e.Mark.interval() && e.Mark.Symbol != 0
	if !other {
		return
	}
	v.covered(rule.LNKVL006)
	if l := &s.lanes[p.VL]; !l.refused {
		l.refused = true
		v.report(e, s, rule.Verdict{
			Rule: rule.LNKVL006, Class: rule.Proven(!v.lossy), Role: rule.Sender, Earlier: rule.Frame{Number: r.frame, Tap: e.Tap},
			Expected: "a lane that the other port offers credits for", Actual: fmt.Sprintf("VL %d", p.VL),
		})
	}
}
