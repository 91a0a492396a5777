package agent

import "testing"

// TestHolds: the capture holds all that a host sent between two frames where none of the holes in its numbers lies between them, and none may that is not kept.
func TestHolds(t *testing.T) {
	for _, k := range []struct {
		name  string
		holes []Hole
		want  bool
	}{
		{"all is held", []Hole{{Packets: 1, Before: 2, After: 4}, {Packets: 1, Before: 21, After: 22}}, true},
		{"a packet is missing", []Hole{{Packets: 1, Before: 8, After: 12}}, false},
		{"holes were too many to keep", make([]Hole, mostHoles), false},
	} {
		if got := (&Numbering{Holes: k.holes}).Holds(10, 20); got != k.want {
			t.Errorf("%s: %v", k.name, got)
		}
	}
}
