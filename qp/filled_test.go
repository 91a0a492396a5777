package qp

import (
	"testing"

	"ibwitness/packet"
)

// TestFilledLate: what fills a gap came late where a new request follows, or a copy of one from before the gap; it was retransmitted where a copy of a later one does.
func TestFilledLate(t *testing.T) {
	for _, k := range []struct {
		name  string
		after string // of the gap: "n" new requests, "b" copies from before it, "a" copies from after it, "f" more that fills it
		late  uint32
	}{
		{"a new one", "n", 1},
		{"of before", "b", 1},
		{"of after", "a", 0},
		{"more, and a new one", "fn", 2},
		{"more, and one of after", "fa", 0},
		{"a new one, then of after", "na", 1},
		{"nothing yet", "", 0},
		{"a new one, and another gap that is retransmitted", "nfa", 1},
	} {
		s := &NewDirection().SQ
		s.trouble().Missing.PSNs = 9
		s.High = 110
		next := packet.PSN(100)
		fill := func() {
			s.FilledUp(next, 1)
			next++
		}
		fill()
		for _, e := range k.after {
			switch e {
			case 'n':
				s.High++
			case 'b':
				s.CameAgain(90)
			case 'a':
				s.CameAgain(105)
			case 'f':
				fill()
			}
		}
		s.FilledUp(next, 1) // settles what is known by then
		if got := s.sender.trouble.Missing.Filled.Late; got != k.late {
			t.Errorf("%s: %d late, want %d", k.name, got, k.late)
		}
	}
}
