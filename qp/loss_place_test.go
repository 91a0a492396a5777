package qp

import (
	"testing"

	"ibwitness/packet"
)

// TestCountAsked: a NAK for what had come in order tells of a loss after the tap, one for what the capture has not shown before, and one for what is before the first PSN that it holds does not tell.
func TestCountAsked(t *testing.T) {
	for _, k := range []struct {
		name          string
		psn, expected packet.PSN
		before, after uint32
	}{
		{"had come", 105, 110, 0, 1},
		{"the first that the capture holds", 100, 110, 0, 1},
		{"before the first", 99, 110, 0, 0},
		{"had not come", 110, 110, 1, 0},
		{"was expected before the first", 98, 98, 1, 0},
	} {
		s := &NewDirection().SQ
		s.First, s.Next, s.High = 100, 120, 120
		s.CountAsked(k.psn, k.expected)
		if a := s.Trouble().Asked; a.Before != k.before || a.After != k.after {
			t.Errorf("%s: %+v", k.name, a)
		}
	}
}
