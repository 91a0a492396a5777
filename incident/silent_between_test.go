package incident_test

import (
	"fmt"
	"strings"
	"testing"

	"ibwitness/agent"
)

// TestSilentBetween: a queue pair whose requests nothing answers for a while, while others between the same hosts, which had been busy, carry nothing, shows no path of its own; where one of those went on,
// it may.
func TestSilentBetween(t *testing.T) {
	const scene = `
about: two hosts that reach one another not for a while
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {timeout: 16, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}, a3: {hca: a, peer: b3}, b3: {hca: b, peer: a3}}
work:
  - {qp: a1, op: write, length: 1000, repeat: 100, every: 5ms}
  - {qp: a2, op: write, length: 1000, repeat: 99, every: 5ms}
  - {qp: a3, op: write, length: 1000, repeat: 99, every: 5ms}
  - {qp: a2, op: write, length: 1000, repeat: 100, every: 5ms, at: 2200ms}
  - {qp: %s, op: write, length: 1000, repeat: 100, every: 5ms, at: %s}
taps: [middle]
errors:
  - {do: drop, from: a, to: b, op: request, nth: 298, count: 4, where: after}
`
	const said, path = "between: 2 other connections between the hosts, which had been busy, carried nothing meanwhile either, and went on there about 1.71s", "1 of 3 queue pairs from 10.1.0.1 to 10.1.0.2 had to retransmit"
	for by, silent := range map[string]bool{"a3": true, "b3": false} {
		at := "2200ms"
		if !silent {
			at = "600ms"
		}
		got := happened(t, frames(t, fmt.Sprintf(scene, by, at)), agent.Options{Timing: true})
		if strings.Contains(got, said) != silent || strings.Contains(got, path) == silent {
			t.Errorf("%s at %s: %s", by, at, got)
		}
	}
}
