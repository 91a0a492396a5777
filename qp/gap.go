package qp

import "ibwitness/packet"

// Gap is the PSNs between requests that the capture does not show. Invariant: while it is open From is before To; one that is closed is zero.
type Gap struct {
	From, To packet.PSN // first PSN that is missing, and the PSN after the last
	// Explained says that what is missing was seen, and was reported for what is wrong with it.
	Explained bool
	// Filled says that what is missing was answered while one packet had come after the gap: that one may have the wrong PSN.
	Filled bool
}

// Open reports whether anything is missing.
func (g *Gap) Open() bool { return g.From != g.To }

// Begin notes that the PSNs from one up to another, which has come, are missing. It takes the place of a gap that was open.
func (g *Gap) Begin(from, to packet.PSN, explained bool) {
	mustGap(from.Before(to), "Begin", g)
	*g = Gap{From: from, To: to, Explained: explained}
}

// Widen notes that the open gap goes on up to a PSN: what had come after it does not follow it in the stream.
func (g *Gap) Widen(to packet.PSN) {
	mustGap(g.Open() && g.From.Before(to), "Widen", g)
	g.To = to
}

// Extend notes that the open gap begins earlier, at a PSN.
func (g *Gap) Extend(from packet.PSN) {
	mustGap(g.Open() && from.Before(g.To), "Extend", g)
	g.From = from
}

// Fill notes that everything before a PSN has come, and closes the gap where that is all of it.
func (g *Gap) Fill(psn packet.PSN) {
	mustGap(g.Open(), "Fill", g)
	if g.From = psn; !psn.Before(g.To) {
		g.Close()
	}
}

// MoveGap takes the gap to begin at a PSN, where the READ before it ends as was learned since, and fills it as far after that as requests have come.
func (s *SendQueue) MoveGap(psn packet.PSN) {
	s.Gap.Fill(psn)
	for s.Gap.Open() {
		w, _ := s.Messages.Find(s.Gap.From)
		if w == nil {
			return
		}
		s.Gap.Fill(w.Last.Add(1))
	}
}

// Explain notes that what is missing was seen.
func (g *Gap) Explain() {
	mustGap(g.Open(), "Explain", g)
	g.Explained = true
}

// SetFilled notes whether what is missing was answered.
func (g *Gap) SetFilled(answered bool) {
	mustGap(g.Open(), "SetFilled", g)
	g.Filled = answered
}

// Close forgets the gap.
func (g *Gap) Close() { *g = Gap{} }

func mustGap(possible bool, transition string, g *Gap) {
	if Strict && !possible {
		panic("qp: Gap." + transition + " of PSNs " + g.From.String() + " to " + g.To.String())
	}
}
