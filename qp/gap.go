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

// OpenGap notes that the PSNs from one up to another, which has come, are missing. It takes the place of a gap that was open.
func (s *SendQueue) OpenGap(from, to packet.PSN, explained bool) {
	must(from.Before(to), "OpenGap", s)
	s.Gap = Gap{From: from, To: to, Explained: explained}
}

// WidenGap notes that the open gap goes on up to a PSN: what had come after it does not follow it in the stream.
func (s *SendQueue) WidenGap(to packet.PSN) {
	must(s.Gap.Open() && s.Gap.From.Before(to), "WidenGap", s)
	s.Gap.To = to
}

// ExtendGap notes that the open gap begins earlier, at a PSN.
func (s *SendQueue) ExtendGap(from packet.PSN) {
	must(s.Gap.Open() && from.Before(s.Gap.To), "ExtendGap", s)
	s.Gap.From = from
}

// FillGap notes that everything before a PSN has come, and closes the gap where that is all of it.
func (s *SendQueue) FillGap(psn packet.PSN) {
	must(s.Gap.Open(), "FillGap", s)
	if s.Gap.From = psn; !psn.Before(s.Gap.To) {
		s.CloseGap()
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
	must(s.Gap.Open(), "ExplainGap", s)
	s.Gap.Explained = true
}

// SetGapFilled notes whether what is missing was answered.
func (s *SendQueue) SetGapFilled(answered bool) {
	must(s.Gap.Open(), "AnswerGap", s)
	s.Gap.Filled = answered
}

// CloseGap forgets the gap.
func (s *SendQueue) CloseGap() { s.Gap = Gap{} }
