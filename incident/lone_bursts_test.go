package incident_test

import (
	"strings"
	"testing"

	"ibwitness/timing"
)

// TestLoneBursts: where each sender fills the way without a mark while no other sends, and all marks are in bursts of several at once, no slower link
// fits: not where one of those is marked, is slower or shorter than what comes until the first mark, nor where one of the senders never sent so.
func TestLoneBursts(t *testing.T) {
	const (
		want   = "compared: 4 bursts of one sender (10.0.0.1 and 10.0.0.2) came at 25.6 Gbit/s without a mark; all marks are in the 8 bursts of 2 at once: no link before the tap is slower than that"
		slower = "a slower link on the way"
	)
	for _, k := range []struct {
		name   string
		kb     int64 // in each window of a burst of one
		length int64
		marked float64
		by     int64 // senders that sent so
		told   bool
	}{
		{"each at full rate", 800, 3, 0, 2, true},
		{"marked too", 800, 3, 0.2, 2, false},
		{"slower", 400, 3, 0, 2, false},
		{"shorter than until the first mark", 760, 1, 0, 2, false},
		{"of one of them only", 800, 3, 0, 1, false},
	} {
		s := &burstScene{}
		for n := range int64(2) {
			var list []window
			var sent []timing.Sent
			message := func(at, length int64) {
				begin := (second(1)/timing.BusyWidth + at) * timing.BusyWidth
				sent = append(sent, timing.Sent{Begin: begin, End: begin + length*timing.BusyWidth - 1})
			}
			for b := range int64(12) {
				switch at := 200 * b; {
				case b >= 4:
					for x := range int64(12) { // CNPs slow them down too far
						list = append(list, window{at + x, []int64{400, 8}[min(x, 1)], 0.5})
					}
					message(at, 12)
				case b%k.by == n:
					for x := range k.length {
						list = append(list, window{at + x, k.kb, k.marked})
					}
					message(at, k.length)
				}
			}
			s.sends(byte(n+1), 9, 60, list)
			s.r.Connections[n].Timing.Ends[0].Sent = sent
		}
		got := s.told()
		if strings.Contains(got, want) != k.told || strings.Contains(got, slower) == k.told {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}
