package incident

import (
	"testing"

	"ibwitness/agent"
)

// TestOnlyMidway: a message of which a part was sent is all that waits where no request before it, and none of the other end, does.
func TestOnlyMidway(t *testing.T) {
	for _, k := range []struct {
		midway *agent.Midway
		open   uint32
		frame  uint64
		want   bool
	}{
		{&agent.Midway{Begun: 7}, 1, 7, true},
		{&agent.Midway{Begun: 7}, 0, 0, true},
		{&agent.Midway{Begun: 7}, 1, 5, false},
		{&agent.Midway{Begun: 7}, 2, 5, false},
		{&agent.Midway{From: 1, Begun: 7}, 1, 7, false},
		{nil, 1, 7, false},
	} {
		c := &agent.Connection{Midway: k.midway}
		c.Ends[0].Open, c.Ends[0].OpenFrame = k.open, k.frame
		if got := onlyMidway(c, 0); got != k.want {
			t.Errorf("%+v: %t", k, got)
		}
	}
}
