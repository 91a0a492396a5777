package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
)

// copied has each frame that a function names follow once more 2 µs later.
func copied(list []fabricagent.Frame, which func(i int) bool) (out []fabricagent.Frame) {
	for i, f := range list {
		if out = append(out, f); which(i) {
			f.Time += 2000
			out = append(out, f)
		}
	}
	return out
}

// TestTwice tells a capture that holds many packets twice from a network that duplicates some.
func TestTwice(t *testing.T) {
	many := strings.Replace(writes, "repeat: 4", "repeat: 16", 1)
	for _, tt := range []struct {
		name  string
		list  []fabricagent.Frame
		want  string
		quiet bool
	}{
		{"each", copied(frames(t, many), func(int) bool { return true }), "capture (proven): The capture holds 144 of 144 packets twice.\n        apart: at most 2µs, where", false},
		{"each of READs", copied(frames(t, strings.Replace(many, "op: write", "op: read", 1)), func(int) bool { return true }), "packets twice.\n        apart: at most 2µs, where", false},
		{"each of the requests", copied(frames(t, many), func(i int) bool { return i%9 != 8 }), "packets twice.", false},
		{"one of ten", copied(frames(t, many), func(i int) bool { return i%10 == 3 }), "frames: 0", true},
		{"each of few", copied(frames(t, writes), func(int) bool { return true }), "frames: 0", true},
		{"none", frames(t, many), "frames: 0", true},
	} {
		got := happened(t, tt.list, agent.Options{})
		if !strings.Contains(got, tt.want) || tt.quiet && strings.Contains(got, "capture (") {
			t.Errorf("%s: %s\nwant %q", tt.name, got, tt.want)
		}
	}
}
