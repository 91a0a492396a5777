package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
)

// TestNextFailed: where hosts begin another connection that is never answered either, that is told; not of one that is.
func TestNextFailed(t *testing.T) {
	const scene = `
about: a connection that nothing answers, and another after it
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {timeout: 12, retry_cnt: 3}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}, a3: {hca: a, peer: b3}, b3: {hca: b, peer: a3}}
work:
  - {qp: a3, op: write, length: 100, repeat: 60, every: 20ms}
  - {qp: a1, op: write, length: 100, at: 5ms}
  - {qp: a2, op: write, length: 100, at: 700ms}
taps: [middle]
errors:
  - {do: drop, from: a, psn: 0x100000, count: all, where: after}
`
	const began, failed = "then: the same hosts began another connection", ", which was never answered either"
	for more, want := range map[string]bool{"": false, "  - {do: drop, from: a, psn: 0x300000, count: all, where: after}\n": true} {
		if got := happened(t, frames(t, scene+more), agent.Options{}); !strings.Contains(got, began) || strings.Contains(got, failed) != want {
			t.Errorf("%q: %s", more, got)
		}
	}
}
