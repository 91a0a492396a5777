package timing

import (
	"slices"
	"testing"
)

// TestInOrder: a list is sorted by time, and what has the same time stays in its order.
func TestInOrder(t *testing.T) {
	type x struct {
		at   int64
		name string
	}
	list := []x{{3, "a"}, {1, "b"}, {3, "c"}, {2, "d"}, {1, "e"}, {3, "f"}}
	inOrder(list, func(x *x) int64 { return x.at })
	if want := []x{{1, "b"}, {1, "e"}, {2, "d"}, {3, "a"}, {3, "c"}, {3, "f"}}; !slices.Equal(list, want) {
		t.Errorf("%v, not %v", list, want)
	}
}
