package qp

import "ibwitness/packet"

// Gap is the PSNs between requests that the capture does not show. Invariant: while it is open From is before To; one that is closed is zero.
type Gap struct {
	From, To packet.PSN // first PSN that is missing, and the PSN after the last
	// Explained says that what is missing was seen, and was reported for what is wrong with it.
	Explained bool
	// Filled says that what is missing was answered while one packet had come after the gap: that one may have the wrong PSN.
	Filled bool
	// Shown says that the capture has shown all of it before: what is retransmitted comes without it, or in another order.
	Shown bool
}

// Open reports whether anything is missing.
func (g *Gap) Open() bool { return g.From != g.To }

// BeginGap notes that the PSNs from one up to another, which has come, are missing. It takes the place of a gap that was open.
func (s *SendQueue) BeginGap(from, to packet.PSN, explained bool) {
	mustGap(from.Before(to), "BeginGap", &s.Gap)
	s.seldom().Gap = Gap{From: from, To: to, Explained: explained}
}

// ShownGap notes that the capture has shown all of the open gap before.
func (s *SendQueue) ShownGap() {
	mustGap(s.Gap.Open(), "ShownGap", &s.Gap)
	s.seldom().Gap.Shown = true
}

// WidenGap notes that the open gap goes on up to a PSN: what had come after it does not follow it in the stream.
func (s *SendQueue) WidenGap(to packet.PSN) {
	mustGap(s.Gap.Open() && s.Gap.From.Before(to), "WidenGap", &s.Gap)
	s.seldom().Gap.To, s.seldom().Gap.Shown = to, false
}

// ExtendGap notes that the open gap begins earlier, at a PSN.
func (s *SendQueue) ExtendGap(from packet.PSN) {
	mustGap(s.Gap.Open() && from.Before(s.Gap.To), "ExtendGap", &s.Gap)
	s.seldom().Gap.From = from
}

// FillGap notes that everything before a PSN has come, and closes the gap where that is all of it.
func (s *SendQueue) FillGap(psn packet.PSN) {
	mustGap(s.Gap.Open(), "FillGap", &s.Gap)
	g := &s.seldom().Gap
	if g.From = psn; !psn.Before(g.To) {
		*g = Gap{}
	}
}

// MoveGap takes the gap to begin at a PSN, where the READ before it ends as was learned since, and fills it as far after that as requests have come.
func (s *SendQueue) MoveGap(psn packet.PSN) {
	s.FillGap(psn)
	for s.Gap.Open() {
		w, _ := s.Messages.Find(s.Gap.From)
		if w == nil {
			return
		}
		s.FillGap(w.Last.Add(1))
	}
}

// ExplainGap notes that what is missing was seen.
func (s *SendQueue) ExplainGap() {
	mustGap(s.Gap.Open(), "ExplainGap", &s.Gap)
	s.seldom().Gap.Explained = true
}

// SetGapFilled notes whether what is missing was answered.
func (s *SendQueue) SetGapFilled(answered bool) {
	mustGap(s.Gap.Open(), "SetGapFilled", &s.Gap)
	s.seldom().Gap.Filled = answered
}

// CloseGap forgets the gap.
func (s *SendQueue) CloseGap() {
	if s.Gap != (Gap{}) {
		s.seldom().Gap = Gap{}
	}
}

func mustGap(possible bool, transition string, g *Gap) {
	if Strict && !possible {
		panic("qp: " + transition + " of PSNs " + g.From.String() + " to " + g.To.String())
	}
}
