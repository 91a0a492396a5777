package sim

import "testing"

// TestArbitrate: lanes send in the ratio of their weights, and the high table first, as far as its limit lets it.
func TestArbitrate(t *testing.T) {
	size := func(int) int { return 640 }
	count := func(a *arbiter, n int) (c [4]int) {
		for range n {
			vl, ok := a.choose(func(int) bool { return true }, size)
			if !ok {
				t.Fatal("nothing is chosen")
			}
			c[vl]++
		}
		return c
	}
	low := []Weight{{0, 40}, {1, 30}, {2, 20}, {3, 0}}
	if c := count(&arbiter{low: begun(low)}, 90); c != [4]int{40, 30, 20, 0} {
		t.Errorf("by weights: %v", c)
	}
	if c := count(&arbiter{high: begun([]Weight{{3, 1}}), low: begun(low), limit: 255}, 90); c != [4]int{3: 90} {
		t.Errorf("high without a limit: %v", c)
	}
	if c := count(&arbiter{high: begun([]Weight{{3, 1}}), low: begun(low), limit: 1}, 80); c != [4]int{5, 3, 2, 70} {
		t.Errorf("high with a limit of 4096 bytes: %v", c)
	}
	if c := count(&arbiter{high: begun([]Weight{{3, 1}}), low: begun(low)}, 80); c[3] != 40 {
		t.Errorf("high with limit 0: %v", c)
	}
	if _, ok := (&arbiter{}).choose(func(int) bool { return true }, size); ok {
		t.Error("something is chosen by no table")
	}
}
