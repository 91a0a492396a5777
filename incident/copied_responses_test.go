package incident_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/rule"
)

// TestCopiedResponses: copies of responses to READs that come after later ones are counted as copies, and nothing is suspected for them; responses that were overtaken are told as such, and no copies.
func TestCopiedResponses(t *testing.T) {
	const scene = `
about: READs
hcas: {a: 10.0.0.1, b: 10.0.0.2}
attributes: {pmtu: 1024}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
taps: [middle]
work:
  - {qp: a1, op: read, length: 65536, repeat: 20, every: 50us}
`
	list := frames(t, scene)
	later := func(which func(i int) bool, by int64, stays bool) []fabricagent.Frame {
		var out []fabricagent.Frame
		for i, f := range list {
			p := decoded(&f)
			moves := which(i) && p.Info().Response
			if !moves || stays {
				out = append(out, f)
			}
			if moves {
				f.Time += by
				out = append(out, f)
			}
		}
		slices.SortStableFunc(out, func(a, b fabricagent.Frame) int { return cmp.Compare(a.Time, b.Time) })
		return out
	}
	some := func(n int) func(int) bool { return func(i int) bool { return i%n == 1 } }
	for _, tt := range []struct {
		name          string
		list          []fabricagent.Frame
		copies        uint64 // at least
		told, notTold string
	}{
		{"many", later(some(2), 2000, true), 600, "capture (proven): The capture holds m", "reordered ("},
		{"few", later(some(10), 2000, true), 100, "frames: 0", "reordered ("},
		{"overtaken", later(some(10), 2000, false), 0, "reordered (", "capture ("},
		{"none", list, 0, "frames: 0", "reordered ("},
	} {
		r := judged(t, tt.list, agent.Options{})
		got := toldOf(r)
		if r.Copies.Count < tt.copies || tt.copies == 0 && r.Copies.Count > 0 || !strings.Contains(got, tt.told) || strings.Contains(got, tt.notTold) {
			t.Errorf("%s: %d copies: %s", tt.name, r.Copies.Count, got)
		}
		if n := r.Of(rule.Unproven); tt.name != "overtaken" && n > 0 {
			t.Errorf("%s: %d suspicions", tt.name, n)
		}
	}
	requests := copiedLater(list, 300)
	if r := judged(t, requests, agent.Options{}); r.Of(rule.Unproven) > 0 || 2*r.Copies.Count < uint64(len(list)) {
		t.Errorf("with requests: %d suspicions, %d copies", r.Of(rule.Unproven), r.Copies.Count)
	}
}
