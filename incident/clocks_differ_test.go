package incident_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/incident"
	"ibwitness/rule"
)

// onTwo has what the second host sends shown by another tap than the rest, and stamps it earlier, by what a function says for its time.
func onTwo(list []fabricagent.Frame, by func(at time.Duration) time.Duration) []fabricagent.Frame {
	first := list[0].Time
	for i := range list {
		if from, _, _ := fabricagent.Ends(&list[i]); from.String() == "10.0.0.2" {
			list[i].Tap = 1
			list[i].Time -= int64(by(time.Duration(list[i].Time - first)))
		}
	}
	slices.SortStableFunc(list, func(a, b fabricagent.Frame) int { return int(a.Time - b.Time) })
	return list
}

// TestClocksDiffer tells by how much the clocks of two interfaces differ, how they drift and when one was set, and nothing that rests on the order of what they show: of right clocks, of one interface, and of few answers it tells none.
func TestClocksDiffer(t *testing.T) {
	const (
		ms, us = time.Millisecond, time.Microsecond
		work   = `
about: requests that are answered one by one
link: {delay: 5us}
hcas: {a: 10.0.0.1, b: 10.0.0.2}
attributes: {pmtu: 1024, timeout: 14}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
taps: [middle]
`
		reads  = work + "work:\n  - {qp: a1, op: read, length: 3000, repeat: 200, every: 20ms}\n"
		writes = work + "work:\n  - {qp: a1, op: write, length: 3000, repeat: 200, every: 20ms}\n"
		few    = work + "work:\n  - {qp: a1, op: read, length: 3000, repeat: 12, every: 20ms}\n"
		drop   = "errors:\n  - {do: drop, from: a, op: request, nth: 100, where: after}\n"
		differ = "capture (proven): The clocks of the interfaces differ: what tap 1 shows is stamped too early, compared with tap 0: by "
	)
	steady := func(time.Duration) time.Duration { return 740 * us }
	right := func(time.Duration) time.Duration { return 0 }
	step := func(at time.Duration) time.Duration {
		if at < 2*time.Second {
			return 740 * us
		}
		return 0
	}
	drifts := func(at time.Duration) time.Duration { return 740*us + at/100_000 }
	unsteady := func(at time.Duration) time.Duration { return at * 7919 % (50 * ms) }
	alone := func(list []fabricagent.Frame) []fabricagent.Frame {
		for i := range list {
			list[i].Tap = 0
		}
		return list
	}
	for _, c := range []struct {
		name string
		list []fabricagent.Frame
		want []string
		not  []string
	}{
		{"READs", onTwo(frames(t, reads), steady), []string{differ + "7", "; 200 of 200 answers are dated before their requests.", "editcap -t 0.0007"}, []string{"drift:", "set: one", "until +", "lost:"}},
		{"WRITEs", onTwo(frames(t, writes), steady), []string{differ + "7", "; 200 of 200 answers"}, []string{"drift:", "set: one"}},
		{"a clock that is set", onTwo(frames(t, reads), step), []string{" until +1.981 s, then no answer before its request; 100 of 200 answers", "set: one of the clocks, between +1.981 s and +2.001 s, by about 740µs", "for its frames until +1.981 s only"}, nil},
		{"a clock that is set, WRITEs", onTwo(frames(t, writes), step), []string{" until +1.981 s, then", "; 100 of 200 answers"}, nil},
		{"a clock that drifts", onTwo(frames(t, reads), drifts), []string{differ + "7", "drift: from 7", "10.0µs a second"}, nil},
		{"a loss", onTwo(frames(t, writes+drop), steady), []string{differ, "lost: packets in the network, all the same: 1 NAK for a PSN sequence error came"}, nil},
		{"unsteady", onTwo(frames(t, reads), unsteady), nil, []string{"clocks of the interfaces"}},
		{"right clocks", onTwo(frames(t, reads), right), nil, []string{"clocks"}},
		{"right clocks, a loss", onTwo(frames(t, writes+drop), right), []string{"loss (proven)"}, []string{"clocks"}},
		{"few", onTwo(frames(t, few), steady), nil, []string{"clocks of the interfaces"}},
		{"one interface", alone(onTwo(frames(t, reads), steady)), []string{"The two directions of the capture have different clocks"}, []string{"clocks of the interfaces"}},
		{"one interface, right clocks", alone(onTwo(frames(t, reads), right)), nil, []string{"clocks"}},
	} {
		r := stamped(t, c.list, agent.Options{Timing: true})
		got := toldOf(r)
		for _, i := range incident.Of(r) {
			got += strings.Join(i.Next, "; ")
		}
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s\nwant %q", c.name, got, want)
			}
		}
		for _, not := range c.not {
			if strings.Contains(got, not) {
				t.Errorf("%s: %s\nand not %q", c.name, got, not)
			}
		}
		if len(r.Apart) == 0 {
			continue
		}
		for _, not := range []string{"lost packets", "interrupted", "unanswered", "waited"} {
			if strings.Contains(got, not) {
				t.Errorf("%s: %s\nand not %q", c.name, got, not)
			}
		}
		if slices.ContainsFunc(r.Findings, func(f rule.Finding) bool { return f.Rule == rule.RCRSP006 || f.Rule == rule.RCRSP007 }) {
			t.Errorf("%s: the order of responses is suspected", c.name)
		}
	}
}
