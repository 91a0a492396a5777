package incident

import (
	"slices"
	"testing"
)

// TestOnce: what fits, and what to look at, is said once, in the order in which it came.
func TestOnce(t *testing.T) {
	shared := []string{"b", "a", "b", "c", "a", "b"}
	list := []Incident{{FitsWith: shared, Next: shared[:2]}}
	onceEach(list)
	if !slices.Equal(list[0].FitsWith, []string{"b", "a", "c"}) || !slices.Equal(list[0].Next, []string{"b", "a"}) || shared[2] != "b" {
		t.Errorf("%q, %q, %q", list[0].FitsWith, list[0].Next, shared)
	}
}
