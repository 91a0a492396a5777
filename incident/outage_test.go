package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
)

// TestOutage: what was retransmitted in an outage is told with that, and not once more as a loss or a storm; losses beside it are.
func TestOutage(t *testing.T) {
	const scene = `
about: WRITEs while a path fails for a while
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {timeout: 16, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
work:
  - {qp: a1, op: write, length: 4096, repeat: 600, every: 5ms}
taps: [a]
errors:
  - {do: drop, from: a, op: request, nth: 300, count: 500, where: after}
`
	told := func(more string) string { return happened(t, frames(t, scene+more), agent.Options{}) }
	if got := told(""); !strings.Contains(got, "interrupted") || strings.Contains(got, "storm") || strings.Contains(got, "loss") {
		t.Error(got)
	}
	if got := told("  - {do: drop, from: a, psn: +2200, where: after}\n"); !strings.Contains(got, "interrupted") || !strings.Contains(got, "loss") {
		t.Error(got)
	}
}
