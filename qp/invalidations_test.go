package qp

import (
	"testing"

	"ibwitness/packet"
)

// TestInvalidations: the newest SEND with Invalidate that named an R_Key before a PSN is found, of the same tap; not one after it, of another R_Key, or one that newer ones have taken the place of.
func TestInvalidations(t *testing.T) {
	s := NewDirection().SQ
	name := func(key uint32, psn packet.PSN) {
		s.noteInvalidation(&packet.Packet{InvRKey: key, PSN: psn, Frame: uint64(psn), Time: int64(psn) * 10})
	}
	if s.invalidated(5, 100, 0) != nil {
		t.Error("found where there is none")
	}
	name(5, 1)
	name(6, 2)
	name(5, 3)
	for _, k := range []struct {
		key   uint32
		psn   packet.PSN
		tap   uint16
		frame uint64
	}{{5, 9, 0, 3}, {5, 3, 0, 1}, {5, 1, 0, 0}, {6, 9, 0, 2}, {7, 9, 0, 0}, {5, 9, 1, 0}} {
		got := uint64(0)
		if x := s.invalidated(k.key, k.psn, k.tap); x != nil {
			got = x.Frame
		}
		if got != k.frame {
			t.Errorf("R_Key %d before PSN %v: frame %d, want %d", k.key, k.psn, got, k.frame)
		}
	}
	for n := range packet.PSN(keptInvalidations - 1) {
		name(9, 10+n)
	}
	if x := s.invalidated(5, 1000, 0); x == nil || x.Frame != 3 {
		t.Errorf("%+v", x)
	}
	if name(9, 500); s.invalidated(5, 1000, 0) != nil {
		t.Error("found though newer ones have taken its place")
	}
}
