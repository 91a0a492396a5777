package incident_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/rule"
)

// TestSkew tells two clocks, one for each direction, from one, and suspects no responder then of answers before their requests. What the network lost is told all the same.
func TestSkew(t *testing.T) {
	const writes = `
about: WRITEs that are answered one by one
link: {delay: 5us}
hcas: {a: 10.0.0.1, b: 10.0.0.2}
attributes: {pmtu: 1024, timeout: 14}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
work:
  - {qp: a1, op: write, length: 8000, repeat: 60, every: 20us}
taps: [middle]
`
	const drop = "errors:\n  - {do: drop, from: a, op: request, nth: 100, where: after}\n"
	// skewed stamps what b sent earlier.
	skewed := func(list []fabricagent.Frame, by time.Duration) []fabricagent.Frame {
		for i := range list {
			if from, _, _ := fabricagent.Ends(&list[i]); from.String() == "10.0.0.2" {
				list[i].Time -= int64(by)
			}
		}
		slices.SortStableFunc(list, func(a, b fabricagent.Frame) int { return int(a.Time - b.Time) })
		return list
	}
	const differ = "capture (proven): The two directions of the capture have different clocks: what 10.0.0.1 received is stamped at least "
	for _, c := range []struct {
		name string
		list []fabricagent.Frame
		want []string
		not  string
	}{
		{"by 200 us", skewed(frames(t, writes), 200*time.Microsecond), []string{differ + "1", ", all come before it."}, "lost:"},
		{"by 200 us, and a loss", skewed(frames(t, writes+drop), 200*time.Microsecond), []string{differ, "lost: packets in the network, all the same: 1 NAK for a PSN sequence error came"}, ""},
		{"by less than an answer takes", skewed(frames(t, writes), 5*time.Microsecond), nil, "different clocks"},
		{"one clock", frames(t, writes), nil, "different clocks"},
		{"one clock, and losses", frames(t, writes+drop), []string{"loss (proven)"}, "different clocks"},
	} {
		r := stamped(t, c.list, agent.Options{Timing: true})
		got := toldOf(r)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s\nwant %q", c.name, got, want)
			}
		}
		if strings.Contains(got, "one direction of each connection") {
			t.Errorf("%s: %s", c.name, got)
		}
		if c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s: %s\nand not %q", c.name, got, c.not)
		}
		if slices.ContainsFunc(r.Findings, func(f rule.Finding) bool { return f.Rule == rule.RCRSP006 }) {
			t.Errorf("%s: the order of responses is suspected", c.name)
		}
		if told := strings.Contains(got, "different clocks"); told != r.Open.Unclocked {
			t.Errorf("%s: waits are told: %v", c.name, !r.Open.Unclocked)
		}
	}
}
