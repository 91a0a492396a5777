package congestion

import "testing"

// TestPace: a sender that goes on as fast as before while CNPs come is steady; one that has slowed down is not, though it does not slow down any more since.
func TestPace(t *testing.T) {
	const every = int64(100e3)
	for _, tt := range []struct {
		name   string
		rates  []uint64 // bytes between CNPs, of each eight of them
		steady bool     // after the last
	}{
		{"steady", []uint64{20000}, true},
		{"steady for long", []uint64{20000, 20000, 21000}, true},
		{"has slowed down", []uint64{20000, 9000, 9000}, false},
		{"too slow to tell", []uint64{2000}, false},
	} {
		var s pace
		now, bytes, steady := int64(0), uint64(0), false
		for _, n := range tt.rates {
			for range len(s.seen) {
				now, bytes = now+every, bytes+n
				_, _, _, steady = s.add(now, bytes)
			}
		}
		if steady != tt.steady {
			t.Errorf("%s: steady %v", tt.name, steady)
		}
	}
}
