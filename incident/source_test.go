package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/incident"
)

// TestSource: where nothing in the capture goes to an address whose requests nothing answers, while its peer answers others, it may be the wrong one; not where something does.
func TestSource(t *testing.T) {
	const scene = `
about: a connection that nothing answers, beside one that is
hcas: {a: 10.1.0.1, b: 10.1.0.2, c: 10.9.0.5}
attributes: {timeout: 12, retry_cnt: 3}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, c2: {hca: c, peer: b2}, b2: {hca: b, peer: c2}, c3: {hca: c, peer: a3}, a3: {hca: a, peer: c3}}
work:
  - {qp: a1, op: write, length: 100, repeat: 60, every: 20ms}
  - {qp: c2, op: write, length: 100, at: 5ms}
  - {qp: %, op: write, length: 100, at: 5ms}
taps: [middle]
errors:
  - {do: drop, from: c, to: b, count: all, where: after}
`
	const source, fits = "source: the capture holds no packet to 10.9.0.5, from any host", "a source address, 10.9.0.5, that the queue pair of 10.1.0.2 does not expect"
	for qp, want := range map[string]bool{"c2": true, "c3": false} {
		r := judged(t, frames(t, strings.Replace(scene, "%", qp, 1)), agent.Options{})
		got := toldOf(r)
		for _, i := range incident.Of(r) {
			got += strings.Join(i.FitsWith, "; ")
		}
		if strings.Contains(got, source) != want || strings.Contains(got, fits) != want || !strings.Contains(got, "never-answered (proven): 10.9.0.5 ") {
			t.Errorf("%s: %s", qp, got)
		}
	}
}
