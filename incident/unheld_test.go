package incident_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/incident"
)

// TestUnheld tells a capture that lost packets, which were acknowledged, from a network that lost them before the tap, after which they are retransmitted.
func TestUnheld(t *testing.T) {
	const scene = `
about: WRITEs, and a READ
hcas: {a: 10.0.0.1, b: 10.0.0.2}
attributes: {pmtu: 1024, timeout: 14}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
work:
  - {qp: a1, op: write, length: 8000, repeat: 20, every: 100us}
  - {qp: a1, op: write, length: 100, at: 20ms}
taps: [%]
`
	const said = "capture (proven): The capture lost packets, though it reports no drops: at least 3 that it does not hold, in at least 2 runs, on 1 connection."
	const several = "a path of several, of which the tap sees some"
	reads := strings.Replace(scene, "op: write, length: 8000", "op: read, length: 4000", 1)
	without := func(list []fabricagent.Frame, at ...int) (out []fabricagent.Frame) {
		for i, f := range list {
			if !slices.Contains(at, i) {
				out = append(out, f)
			}
		}
		return out
	}
	// unanswered has the capture not hold the last answer, and go on for two seconds.
	unanswered := func(list []fabricagent.Frame) []fabricagent.Frame {
		list = slices.Clone(list[:len(list)-1])
		other := frames(t, datagrams)[0]
		other.Time = list[len(list)-1].Time + int64(2*time.Second)
		return append(list, other)
	}
	middle := frames(t, strings.Replace(scene, "%", "middle", 1))
	lost := frames(t, strings.Replace(scene, "%", "middle", 1)+"errors:\n  - {do: drop, from: a, psn: +20}\n  - {do: drop, from: a, psn: +44}\n  - {do: drop, from: a, psn: +45}\n")
	read := frames(t, strings.Replace(reads, "%", "middle", 1))
	unread := frames(t, strings.Replace(reads, "%", "middle", 1)+"errors:\n  - {do: drop, from: b, psn: +5}\n  - {do: drop, from: b, psn: +10}\n")
	long := strings.Replace(reads, "repeat: 20", "repeat: 60", 1)
	longUnread := frames(t, strings.Replace(long, "%", "middle", 1)+"errors:\n  - {do: drop, from: b, psn: +5}\n  - {do: drop, from: b, psn: +10}\n")
	for _, tt := range []struct {
		name string
		list []fabricagent.Frame
		want []string
		not  []string
	}{
		{"by the capture", without(middle, 20, 40, 41), []string{said, several}, nil},
		{"by the capture, in long runs", without(middle, 20, 21, 22, 23, 24, 25, 26, 27, 60, 61, 62, 63, 64, 65, 66), []string{"The capture lost packets"}, []string{several}},
		{"one packet", without(middle, 20), nil, []string{"The capture lost"}},
		{"by the network", lost, []string{"loss (proven)"}, []string{"The capture lost"}},
		{"none", middle, []string{"frames: 0"}, nil},
		{"responses, by the capture", without(read, 7, 12, 13), []string{"capture (likely): The capture lost packets, though it reports no drops: at least 3 that it does not hold, in at least 2 runs", "responses: 3 responses to READs are missing"}, nil},
		{"responses, where the capture ends soon", without(read[:70], 57, 62), nil, []string{"The capture lost"}},
		{"responses, by the network", unread, []string{"loss (proven)"}, []string{"The capture lost"}},
		{"by both", without(lost, 100, 101, 102, 120, 121), []string{
			"in at least 2 rounds", "missing: at least 3 PSNs before the tap, in 2 gaps, retransmitted then; the capture lost 5 that were not, see there",
			"capture (proven): The capture lost packets, though it reports no drops: at least 5 that it does not hold, in at least 2 runs, on 1 connection.",
		}, nil},
		{"by the capture, where others are overtaken", later(without(middle, 20, 40, 41), 100, 2), []string{"reordered (proven): 1 packet", "at least 2 that it does not hold, in at least 1 run"}, nil},
		{"responses, by both", without(longUnread, 47, 48, 57), []string{
			"loss (proven)", "twice on the way back, before the tap: a response is missing", "capture (likely): The capture lost packets, though it reports no drops: at least 3 that it does not hold, in at least 2 runs",
		}, nil},
		{"many responses, by the network", longUnread, []string{"loss (proven)"}, []string{"The capture lost"}},
		{"and an answer is missing", unanswered(without(middle, 20, 40, 41)), []string{"unanswered (possible): The capture, which lost packets, holds no answer of"}, nil},
		{"only an answer is missing", unanswered(middle), []string{"unanswered (likely)"}, []string{"The capture lost"}},
	} {
		r := judged(t, tt.list, agent.Options{})
		got := toldOf(r)
		for _, i := range incident.Of(r) {
			if i.Kind == incident.Untrusted {
				got += strings.Join(i.FitsWith, "; ")
			}
		}
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s\nwant %q", tt.name, got, want)
			}
		}
		for _, not := range tt.not {
			if strings.Contains(got, not) {
				t.Errorf("%s: %s\nand not %q", tt.name, got, not)
			}
		}
	}
}
