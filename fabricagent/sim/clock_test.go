package sim

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestClockOrder: what is due happens by time, and at one time in the order of the calls, those made by appointments among them.
func TestClockOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := NewClock(100)
		type due struct {
			at  int64
			seq int
		}
		var got []due
		seq := 0
		var plan func(depth int)
		plan = func(depth int) {
			d := rapid.Int64Range(-1, 5).Draw(t, "delay")
			x := due{c.Now() + max(d, 0), seq}
			seq++
			more := depth < 3 && rapid.Bool().Draw(t, "more")
			c.After(d, func() {
				if c.Now() != x.at {
					t.Fatalf("due at %d, called at %d", x.at, c.Now())
				}
				got = append(got, x)
				if more {
					plan(depth + 1)
				}
			})
		}
		for range rapid.IntRange(0, 40).Draw(t, "n") {
			plan(0)
		}
		for c.Step() {
		}
		if len(got) != seq {
			t.Fatalf("%d of %d were kept", len(got), seq)
		}
		if !slices.IsSortedFunc(got, func(a, b due) int {
			if a.at != b.at {
				return int(a.at - b.at)
			}
			return a.seq - b.seq
		}) {
			t.Fatalf("not in order: %v", got)
		}
	})
}

func TestClockRun(t *testing.T) {
	c := NewClock(0)
	var got []int64
	for _, d := range []int64{30, 10, 20} {
		c.After(d, func() { got = append(got, d) })
	}
	c.Run(20)
	if next, ok := c.Next(); !slices.Equal(got, []int64{10, 20}) || c.Now() != 20 || !ok || next != 30 {
		t.Errorf("at %d: %v, next %d %v", c.Now(), got, next, ok)
	}
	c.Run(25)
	if c.Now() != 25 {
		t.Errorf("at %d, want 25", c.Now())
	}
	if !c.Step() || c.Now() != 30 || c.Step() {
		t.Errorf("at %d: %v", c.Now(), got)
	}
}
