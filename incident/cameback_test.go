package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
)

// TestCameBack: a queue pair that does not outlast an outage, as others between the hosts do, is not one that only is gone itself.
func TestCameBack(t *testing.T) {
	const scene = `
about: WRITEs on two connections while a path fails for a while
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {timeout: 20, retry_cnt: 7}
qps:
  a1: {hca: a, peer: b1, timeout: 12, retry_cnt: 3}
  b1: {hca: b, peer: a1}
  a2: {hca: a, peer: b2}
  b2: {hca: b, peer: a2}
work:
  - {qp: a1, op: write, length: 1000, repeat: 26, every: 5ms}
  - {qp: a2, op: write, length: 1000, repeat: 26, every: 5ms}
  - {qp: a2, op: write, length: 1000, repeat: 26, every: 5ms, at: 20s}
taps: [a]
errors:
`
	const both = "peer: 10.1.0.2 answered nothing on the other connection between them either, until 6.47s after this request"
	const one = "peer: 10.1.0.2 went on sending on other connections: last "
	for name, tt := range map[string]struct{ errors, want, not string }{
		"an outage":        {"  - {do: drop, from: a, op: request, nth: 51, count: 5, where: after}\n", both, one},
		"one that is gone": {"  - {do: drop, from: a, psn: 0x100019, count: 4, where: after}\n", one, both},
	} {
		got := happened(t, frames(t, scene+tt.errors), agent.Options{})
		if !strings.Contains(got, tt.want) || strings.Contains(got, tt.not) {
			t.Errorf("%s: %s\nwant %q", name, got, tt.want)
		}
	}
}
