package congestion

import "testing"

// TestPace: a sender that goes on as fast as before while CNPs come is steady; one that has slowed down is not, though it does not slow down any more since.
func TestPace(t *testing.T) {
	for _, tt := range []struct {
		name   string
		every  int64    // between CNPs
		rates  []uint64 // bytes between CNPs, of each eight of them
		steady bool     // after the last
	}{
		{"steady", 900e3, []uint64{20000}, true},
		{"steady for long", 900e3, []uint64{20000, 20000, 21000}, true},
		{"has slowed down", 900e3, []uint64{20000, 9000, 9000}, false},
		{"too slow to tell", 900e3, []uint64{2000}, false},
		{"has had no time to slow down", 50e3, []uint64{20000, 20000}, false},
		{"does not slow down within a millisecond", 50e3, []uint64{400000, 400000, 400000}, true},
		{"what waited in a queue may still come", 50e3, []uint64{60000, 60000, 60000}, false},
	} {
		var s pace
		now, bytes, steady := int64(0), uint64(0), false
		for _, n := range tt.rates {
			for range len(s.seen) {
				now, bytes = now+tt.every, bytes+n
				_, _, _, steady = s.add(now, bytes)
			}
		}
		if steady != tt.steady {
			t.Errorf("%s: steady %v", tt.name, steady)
		}
	}
}
