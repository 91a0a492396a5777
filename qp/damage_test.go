package qp

import (
	"testing"

	"ibwitness/packet"
)

// TestCutShort: of requests that came cut short the newest are known, and a gap is of such ones where each of it is.
func TestCutShort(t *testing.T) {
	s := &NewDirection().SQ
	if s.AllCut(5, 6) {
		t.Error("none came")
	}
	for _, psn := range []packet.PSN{7, 5, 0xFFFFFF, 0} {
		s.CutShort(psn)
	}
	for _, tt := range []struct {
		from, to packet.PSN
		all      bool
	}{{5, 6, true}, {5, 7, false}, {7, 8, true}, {0xFFFFFF, 1, true}, {0xFFFFFE, 1, false}} {
		if s.AllCut(tt.from, tt.to) != tt.all {
			t.Errorf("PSNs %v to %v: want %v", tt.from, tt.to, tt.all)
		}
	}
	for n := range mostCut {
		s.CutShort(packet.PSN(100 + n))
	}
	if s.AllCut(7, 8) || !s.AllCut(100, 100+mostCut) {
		t.Error("the oldest is not forgotten, or a newer one is")
	}
}
