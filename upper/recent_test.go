package upper

import (
	"slices"
	"testing"
)

// TestRecent: of the newest answers it is known when they came, and how many commands had begun before a frame and are open.
func TestRecent(t *testing.T) {
	k := NewTracker(nvme{}, true)
	for n := range int64(40) {
		k.message = &Message{Time: 10 * n, Frame: uint64(10 * n), Tap: 1}
		k.Begin(Command{ID: uint64(n)})
		if n < 36 {
			k.message = &Message{From: 1, Time: 10*n + 1, Frame: uint64(10*n + 1), Tap: 1}
			k.End(0, uint64(n), 0)
		}
	}
	if s := k.Took(); len(s.Recent()) != mostRecent || s.Recent()[0] != 41 || !slices.IsSorted(s.Recent()) || s.Recent()[mostRecent-1] != 351 || s.Answer != 351 {
		t.Errorf("%d answers: %v, the newest in frame %d", s.Count, s.Recent(), s.Answer)
	}
	for _, x := range []struct {
		from  int
		tap   uint16
		frame uint64
		open  int
	}{{0, 1, 400, 4}, {0, 1, 380, 2}, {0, 1, 360, 0}, {0, 2, 400, 0}, {1, 1, 400, 0}} {
		if n := k.OpenBefore(x.from, x.tap, x.frame); n != x.open {
			t.Errorf("%+v: %d", x, n)
		}
	}
	k.Turn()
	if n := k.OpenBefore(1, 1, 400); n != 4 {
		t.Errorf("turned: %d", n)
	}
}
