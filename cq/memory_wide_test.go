package cq

import "testing"

// TestWideRanges: of ranges of many pages those are forgotten that a later one covers, and no other.
func TestWideRanges(t *testing.T) {
	const size = (mostPages + 1) << pageBits
	var c content
	wide := func(lo uint64, from int64, known bool) *stored {
		p := &stored{lo: lo, hi: lo + size, from: from, to: from + 5, known: known}
		c.put(p)
		c.forget(p)
		return p
	}
	for i := range int64(1000) {
		wide(0, 10*i, true)
	}
	if len(c.wide) != 1 {
		t.Fatalf("%d ranges are kept of one that is written again and again", len(c.wide))
	}
	wide(4096, 20_000, true)  // beside it
	wide(4096, 20_003, true)  // at the same time
	wide(4096, 30_000, false) // not in memory for certain
	if len(c.wide) != 4 {
		t.Errorf("%d ranges are kept, of 4 that none covers for certain", len(c.wide))
	}
	if wide(4096, 40_000, true); len(c.wide) != 2 {
		t.Errorf("%d ranges are kept, of 2", len(c.wide))
	}
}
