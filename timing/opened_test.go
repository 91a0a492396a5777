package timing

import (
	"testing"
	"time"
)

// TestOpenedBy: the pauses between rounds that a host ended count from a time on where they are longer than all that others did, and many; not before, and not where others ended longer ones, or none.
func TestOpenedBy(t *testing.T) {
	walk := func(own, other time.Duration, n int) *roundsWalk {
		r := new(roundsWalk)
		for k := range n {
			at := int64(k + 1)
			r.opened = append(r.opened, opening{lastWait{silence: own + time.Duration(k), at: at, round: k}, 2})
			if other > 0 {
				r.opened = append(r.opened, opening{lastWait{silence: other, at: at, round: k}, k % 2})
			}
		}
		return r
	}
	for _, k := range []struct {
		own, other time.Duration
		from       int64
		want       Opened
	}{
		{50, 40, 0, Opened{20, 50, 69}},
		{50, 40, 11, Opened{10, 60, 69}},
		{50, 40, 15, Opened{}},
		{50, 90, 0, Opened{}},
		{50, 0, 0, Opened{}},
	} {
		if got := walk(k.own, k.other, 20).openedBy(2, k.from); got != k.want {
			t.Errorf("%+v: %+v", k, got)
		}
	}
}
