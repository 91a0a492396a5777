package qp

import (
	"testing"

	"ibwitness/packet"
)

// TestHistoryFirst finds the first known PSN of short and long ranges, around the end of the PSNs too.
func TestHistoryFirst(t *testing.T) {
	var h History
	for _, psn := range []packet.PSN{packet.PSNMask, 3, 0x400005} {
		h.Put(psn, 1, packet.Trace{}, 0)
	}
	for _, k := range []struct {
		from, to, want packet.PSN
		known          bool
	}{
		{0xfffff0, 0xffffff, 0xffffff, true},
		{0xfffffe, 5, 0xffffff, true},
		{0, 5, 3, true},
		{0, 2, 0, false},
		{4, 0x400004, 0, false},
		{4, 0x400005, 0x400005, true},
		{0, 0x7fffff, 3, true},
		{0x900000, 0x10, 0xffffff, true},
		{0x400006, 0xbffff0, 0, false},
	} {
		if got, known := h.First(k.from, k.to); got != k.want || known != k.known {
			t.Errorf("%v to %v: %v, %v", k.from, k.to, got, known)
		}
	}
}
