package incident_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

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

// copiedLater has each frame come once more so much later, after those that came meanwhile.
func copiedLater(list []fabricagent.Frame, by time.Duration) []fabricagent.Frame {
	list = slices.Clone(list)
	for _, f := range slices.Clone(list) {
		f.Time += int64(by)
		list = append(list, f)
	}
	slices.SortStableFunc(list, func(a, b fabricagent.Frame) int { return cmp.Compare(a.Time, b.Time) })
	return list
}

// TestTwiceAmongOthers: copies that come after later packets are not told as losses or as packets that others have overtaken.
func TestTwiceAmongOthers(t *testing.T) {
	for _, repeat := range []string{"16", "1"} {
		text := strings.Replace(writes, "repeat: 4", "repeat: "+repeat, 1) + "  - {qp: a1, op: read, length: 4000, repeat: 4, at: 1ms}\n"
		got := happened(t, copiedLater(frames(t, text), 300*time.Nanosecond), agent.Options{})
		many := repeat != "1" // else what comes twice are too few
		if many != strings.HasPrefix(got, "frames: 1\n    capture (proven): Packets between 10.0.0.1 and 10.0.0.2 are in the capture twice") || strings.Contains(got, "reordered (") {
			t.Errorf("%s times: %s", repeat, got)
		}
	}
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
		{"each", copied(frames(t, many), func(int) bool { return true }), "capture (proven): Packets between 10.0.0.1 and 10.0.0.2 are in the capture twice: of 284, 142 are copies of others, with the same IPv4 identifications. Each is judged once; so judged, there is no retransmission after frame 92, and no NAK.\n", false},
		{"each of READs", copied(frames(t, strings.Replace(many, "op: write", "op: read", 1)), func(int) bool { return true }), "in the capture twice: of 270", false},
		{"each of the requests", copied(frames(t, many), func(i int) bool { return i%9 != 8 }), "in the capture twice: of 268", false},
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

// TestNumberedCopies: copies of packets that their senders number are told from an eighth of the packets on; of senders that do not, from a quarter on, as retransmissions that come soon are like them.
func TestNumberedCopies(t *testing.T) {
	for _, k := range []struct {
		numbered uint64
		told     bool
	}{{150, true}, {0, false}} {
		r := &agent.Result{RDMA: 1150, Packets: 1150, First: 1, Last: int64(time.Second)}
		r.Copies.Count, r.Copies.Numbered = 150, k.numbered
		if got := toldOf(r); strings.Contains(got, "holds many packets twice") != k.told {
			t.Errorf("%d numbered: %s", k.numbered, got)
		}
	}
}
