package qp

import (
	"slices"

	"ibwitness/packet"
)

// Damage is the newest packet that its receiver drops, as its ICRC or VCRC is wrong.
type Damage struct {
	PSN packet.PSN
	Set bool
	// Link says that it was damaged on its link, by its VCRC or its end, whatever its ICRC.
	Link bool
	// Begun is when a packet with this PSN was first damaged, of those that came one after the other with no other damaged between; Time is when
	// the newest was. Nanoseconds.
	Begun, Time int64
}

// Damage notes that packet p is damaged: that explains a gap.
func (s *SendQueue) Damage(p *packet.Packet, link bool) {
	s.GapExplained, s.Usual = true, false
	begun := p.Time
	if s.DamagedAt(p.PSN) && s.Una == p.PSN { // else it may be another request
		begun = s.Recovery.Damage.Begun
	}
	s.Lost().Damage = Damage{PSN: p.PSN, Set: true, Link: link, Begun: begun, Time: p.Time}
}

// DamagedBetween reports whether the newest damaged packet came after a time, and not after another.
func (s *SendQueue) DamagedBetween(after, until int64) bool {
	return s.Damaged() && s.Recovery.Damage.Time > after && s.Recovery.Damage.Time <= until
}

// DamageBegun is when the packet at psn came damaged, where that is the newest one that did; 0: it is not.
func (s *SendQueue) DamageBegun(psn packet.PSN) int64 {
	if !s.DamagedAt(psn) {
		return 0
	}
	return s.Recovery.Damage.Begun
}

// Damaged reports whether any packet was damaged.
func (s *SendQueue) Damaged() bool { return s.Recovery != nil && s.Recovery.Damage.Set }

// DamagedAt reports whether the newest damaged packet has this PSN.
func (s *SendQueue) DamagedAt(psn packet.PSN) bool {
	return s.Damaged() && s.Recovery.Damage.PSN == psn
}

// DamagedFrom reports whether the newest damaged packet has this PSN or a later one.
func (s *SendQueue) DamagedFrom(psn packet.PSN) bool {
	return s.Damaged() && !s.Recovery.Damage.PSN.Before(psn)
}

// DamagedOnLink reports whether the newest damaged packet was damaged on its link.
func (s *SendQueue) DamagedOnLink() bool { return s.Recovery != nil && s.Recovery.Damage.Link }

// mostCut is of how many requests that came cut short the PSNs are kept: about as many as a queue pair has outstanding while a queue on the
// way is full.
const mostCut = 256

// CutShort notes that the request at psn came cut short: it was sent, and its receiver drops it.
func (s *SendQueue) CutShort(psn packet.PSN) {
	r := s.Lost()
	if len(r.Cut) == mostCut {
		r.Cut = slices.Delete(r.Cut, 0, 1)
	}
	r.Cut = append(r.Cut, psn)
}

// AllCut reports whether all requests from a PSN up to another have come, though cut short.
func (s *SendQueue) AllCut(from, to packet.PSN) bool {
	if s.Recovery == nil || len(s.Recovery.Cut) == 0 {
		return false
	}
	for psn := from; psn.Before(to); psn = psn.Add(1) {
		if !slices.Contains(s.Recovery.Cut, psn) {
			return false
		}
	}
	return true
}

// CutAfter reports whether the newest damaged packet came cut short after a time, and is the request at a PSN or a later one.
func (s *SendQueue) CutAfter(psn packet.PSN, time int64) bool {
	if s.Recovery == nil || len(s.Recovery.Cut) == 0 || s.Recovery.Damage.Time <= time {
		return false
	}
	newest := s.Recovery.Cut[len(s.Recovery.Cut)-1]
	return s.DamagedAt(newest) && !newest.Before(psn)
}

// Foreign returns the PSN of the newest request with the P_Key of another partition, where it is not answered; false: there is none.
func (s *SendQueue) Foreign() (packet.PSN, bool) {
	if !s.HasForeign() {
		return 0, false
	}
	return s.Recovery.Foreign & packet.PSNMask, true
}

// HasForeign reports whether there is one.
func (s *SendQueue) HasForeign() bool { return s.Recovery != nil && s.Recovery.Foreign != 0 }

// OpenForeign notes a request with the P_Key of another partition: the fast path leaves what comes next to the verifiers proper.
func (s *SendQueue) OpenForeign(psn packet.PSN) {
	s.Lost().Foreign = psn | Valid
	s.Usual = false
}

// CloseForeign forgets it: it was retransmitted as it should be, or answered.
func (s *SendQueue) CloseForeign() {
	if s.Recovery != nil {
		s.Recovery.Foreign = 0
	}
}
