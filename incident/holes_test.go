package incident_test

import (
	"slices"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/rule"
)

// numberedWrites are WRITEs of one host on two queue pairs.
const numberedWrites = `
about: WRITEs of one host on two queue pairs
link: {delay: 5us}
hcas: {a: 10.0.0.1, b: 10.0.0.2, c: 10.0.0.3}
attributes: {pmtu: 1024, timeout: 14}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: c2}, c2: {hca: c, peer: a2}}
work:
  - {qp: a1, op: write, length: 8000, repeat: 60, every: 100us}
  - {qp: a2, op: write, length: 3000, repeat: 60, every: 100us, at: 50us}
taps: [middle]
`

// TestHoles counts what a capture lost by the IPv4 identifications of a host, where one counter gives them, and takes back that the host skipped PSNs.
func TestHoles(t *testing.T) {
	// lossy leaves out 40 frames, and all that host c answered.
	lossy := func(list []fabricagent.Frame) (out []fabricagent.Frame) {
		for i, f := range list {
			if from, _, _ := fabricagent.Ends(&f); (i < 205 || i >= 245) && from.String() != "10.0.0.3" {
				out = append(out, f)
			}
		}
		return out
	}
	// one leaves out what hosts a and c exchanged.
	one := func(list []fabricagent.Frame) (out []fabricagent.Frame) {
		for _, f := range list {
			if from, to, _ := fabricagent.Ends(&f); from.String() != "10.0.0.3" && to.String() != "10.0.0.3" {
				out = append(out, f)
			}
		}
		return out
	}
	const numbers, lost = "numbers: IPv4 identifications", "The capture lost packets"
	for _, c := range []struct {
		name string
		list []fabricagent.Frame
		want []string
		not  string
		psns bool // requests are suspected to have skipped PSNs
	}{
		{"of two connections", lossy(frames(t, numberedWrites)), []string{
			lost + ", though it reports no drops: at least 34 that it does not hold, in at least 1 run, of 10.0.0.1.",
			numbers + ", which one counter of each host gives, are missing, at least: 34 of 10.0.0.1 in 1 hole", "holes: 34 packets at +1.55ms after frame", "requests: 24 PSNs",
		}, "", false},
		{"not numbered", lossy(withoutIDs(frames(t, numberedWrites))), []string{lost + ", though it reports no drops: at least 24 that it does not hold"}, numbers, true},
		{"the host sends elsewhere", one(lossy(frames(t, numberedWrites))), []string{lost + ", though it reports no drops: at least 24 that it does not hold"}, numbers, true},
		{"nothing", frames(t, numberedWrites), nil, lost, false},
		{"the host sends elsewhere, and nothing is lost", one(frames(t, numberedWrites)), nil, lost, false},
		{"the network lost them", frames(t, numberedWrites+"errors:\n  - {do: drop, from: a, to: b, op: request, nth: 100}\n  - {do: drop, from: a, to: b, op: request, nth: 200}\n"), []string{"loss (proven)"}, lost, false},
	} {
		r := judged(t, c.list, agent.Options{Timing: true})
		got := toldOf(r)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s\nwant %q", c.name, got, want)
			}
		}
		if c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s: %s\nand not %q", c.name, got, c.not)
		}
		if psns := slices.ContainsFunc(r.Findings, func(f rule.Finding) bool { return f.Rule == rule.RCPSN004 }); psns != c.psns {
			t.Errorf("%s: that requests skipped PSNs is suspected: %v", c.name, psns)
		}
	}
}
