package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
)

// TestSurvivors: connections that outlast an outage which others do not are told with these, whichever host they ask; not those that stop at another time, or with other hosts.
func TestSurvivors(t *testing.T) {
	const scene = `
about: a host whose link fails for a while
hcas: {a: 10.2.0.1, b: 10.2.0.2, c: 10.2.0.3}
attributes: {timeout: 20, retry_cnt: 7}
qps:
  b1: {hca: b, peer: a1, timeout: 12, retry_cnt: 3}
  a1: {hca: a, peer: b1}
  b2: {hca: b, peer: a2}
  a2: {hca: a, peer: b2}
  a3: {hca: a, peer: c3}
  c3: {hca: c, peer: a3}
work:
  - {qp: b1, op: write, length: 1000, repeat: 26, every: 5ms}
  - {qp: b2, op: write, length: 1000, repeat: 26, every: 5ms}
  - {qp: b2, op: write, length: 1000, repeat: 26, every: 5ms, at: 20s}
  - {qp: a3, op: write, length: 1000, repeat: 26, every: 5ms}
  - {qp: a3, op: write, length: 1000, repeat: 26, every: 5ms, at: 20s}
taps: [middle]
errors:
  - {do: drop, from: b, to: a, op: request, nth: 51, count: 5, where: after}
`
	const third = "  - {do: drop, from: a, to: c, op: request, nth: %, where: after}\n"
	for name, tt := range map[string]struct{ text, want string }{
		"of the same hosts": {scene, "went on: 1 connection of 10.2.0.1 with 10.2.0.2, which made no progress at that time either, for 6.03s at most"},
		"of others too":     {scene + strings.Replace(third, "%", "26", 1), "went on: 2 connections of 10.2.0.1 with 10.2.0.2 and 10.2.0.3, which made no progress at that time either, for 7.2s at most"},
		"at another time":   {scene + strings.Replace(third, "%", "52", 1), "went on: 1 connection of 10.2.0.1 with 10.2.0.2, "},
	} {
		got := happened(t, frames(t, tt.text), agent.Options{})
		if !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s\nwant %q", name, got, tt.want)
		}
		if n, one := strings.Count(got, "interrupted ("), name != "at another time"; one != (n == 0) {
			t.Errorf("%s: %d interruptions are told beside it:\n%s", name, n, got)
		}
	}
}
