package qp

import (
	"ibwitness/packet"
	"ibwitness/wqe"
)

// sprayedFrom is how many requests that left before what has overtaken them show, while the responder asks for none, that the network sends those of a queue pair over several paths.
const sprayedFrom = 4

// Spray is the requests that left before what has overtaken them, since the responder last asked for one, or one was retransmitted.
type Spray struct {
	First [sprayedFrom - 1]packet.PSN // their PSNs, of the first so many
	Count uint8                       // up to sprayedFrom
}

// Sprayed reports whether so many were overtaken that a PSN which is ahead of the next one hardly shows a loss.
func (s *SendQueue) Sprayed() bool {
	return s.Recovery != nil && s.Recovery.Spray.Count == sprayedFrom
}

// CountSprayed counts request p, which left before what has overtaken it. It returns the PSNs of those that are shown to be late, and not missing, by this one: of the first all at once.
func (s *SendQueue) CountSprayed(p *packet.Packet) []packet.PSN {
	switch k := &s.Lost().Spray; k.Count {
	case sprayedFrom:
		return []packet.PSN{p.PSN}
	case sprayedFrom - 1:
		k.Count++
		return append(k.First[:len(k.First):len(k.First)], p.PSN)
	default:
		k.First[k.Count] = p.PSN
		k.Count++
		return nil
	}
}

// EndSpray notes that the responder asks for a request, or that one is retransmitted.
func (s *SendQueue) EndSpray() {
	if s.Recovery != nil {
		s.Recovery.Spray = Spray{}
	}
}

// LeftAs returns the IPv4 identification of the newest request by PSN, or of what overtook the newest by time, where that is not kept.
func (s *SendQueue) LeftAs() uint16 {
	if k := s.History().Get(s.High.Add(-1)); k != nil {
		return k.Trace.IPID
	}
	return s.OvertakenAfter()
}

// FillHole notes that the request with a PSN that is missing in the open gap has come as it was first sent: what came after it stays as it is.
func (s *SendQueue) FillHole(psn packet.PSN) {
	mustGap(psn.In(s.Gap.From, s.Gap.To.Add(-1)), "FillHole", &s.Gap)
	s.CountFoundHole(psn)
	if psn == s.Gap.From {
		s.PassGap(psn.Add(1))
	}
}

// PassGap notes that everything in the open gap before a PSN has come, or is acknowledged, and fills it as far after that as requests have come.
func (s *SendQueue) PassGap(psn packet.PSN) {
	for s.FillGap(psn); s.Gap.Open(); s.FillGap(psn) {
		switch w, _ := s.Messages.Find(psn); {
		case s.History().Get(psn) == nil && w == nil:
			return
		case w != nil && w.Op == wqe.Read:
			psn = w.Last.Add(1)
		default:
			psn = psn.Add(1)
		}
	}
}

// Holes counts the PSNs of the open gap before one that have not come.
func (s *SendQueue) Holes(before packet.PSN) (n int) {
	if before.After(s.Gap.To) {
		before = s.Gap.To
	}
	if before.Diff(s.Gap.From) > historyMax {
		return before.Diff(s.Gap.From)
	}
	for psn := s.Gap.From; psn.Before(before); psn = psn.Add(1) {
		if !s.holds(psn) {
			n++
		}
	}
	return n
}

// holds reports whether the request with a PSN has come, as far as that is kept.
func (s *SendQueue) holds(psn packet.PSN) bool {
	if s.History().Get(psn) != nil {
		return true
	}
	w, _ := s.Messages.Find(psn)
	return w != nil
}

// CountFoundHole takes back that a PSN of the open gap is missing, of a request that has come as it was first sent.
func (s *SendQueue) CountFoundHole(psn packet.PSN) {
	t := s.sender.trouble
	if t == nil || t.Missing.PSNs == 0 || s.Gap.Explained || s.Gap.Shown {
		return
	}
	next := psn.Add(1)
	t.Missing.found(psn == s.Gap.From || s.holds(psn.Add(-1)), next == s.Gap.To || s.holds(next))
}

// CountFoundBefore takes back that a PSN before the open gap is missing, or acknowledged without being in the capture.
func (s *SendQueue) CountFoundBefore(psn packet.PSN) {
	t := s.sender.trouble
	if t == nil || t.Missing.PSNs == 0 {
		return
	}
	m := &t.Missing
	if psn.Before(s.Una) && m.Acked > 0 {
		m.Acked--
	}
	m.found(s.holds(psn.Add(-1)), s.holds(psn.Add(1)))
	m.Acked = min(m.Acked, m.PSNs)
	m.AckedGaps = min(m.AckedGaps, m.Acked)
}

// found takes back that a PSN is missing. before and after say that the one before it has come, and the one after it.
func (m *Missing) found(before, after bool) {
	switch m.PSNs--; {
	case m.PSNs == 0:
		*m = Missing{Filled: m.Filled, Responses: m.Responses}
	case before && after:
		m.Gaps -= min(m.Gaps, 1)
	case !before && !after:
		m.Gaps++
	}
}

// mostAround is how many PSNs before one, and after it, Around looks at.
const mostAround = 64

// Around returns the IPv4 identifications of the requests that are kept next before a PSN and next after it.
func (s *SendQueue) Around(psn packet.PSN) (before, after uint16, known bool) {
	a, b := s.next(psn, -1), s.next(psn, 1)
	if a == nil || b == nil {
		return 0, 0, false
	}
	return a.id, b.id, true
}

// next returns what is kept next to a PSN, in steps; nil: nothing near it.
func (s *SendQueue) next(psn packet.PSN, step int) *sent {
	for range mostAround {
		psn = psn.Add(step)
		if k := s.History().find(psn); k != nil {
			return k
		}
	}
	return nil
}
