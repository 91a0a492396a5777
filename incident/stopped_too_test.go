package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
)

// TestStoppedToo: that busy connections of other hosts stop when a host is lost is told with it; not where they go on, or stop at another time.
func TestStoppedToo(t *testing.T) {
	const scene = `
about: a host that dies, and hosts that wait for it
hcas: {a: 10.2.0.1, b: 10.2.0.2, c: 10.2.0.3}
attributes: {timeout: 14, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, b2: {hca: b, peer: c2}, c2: {hca: c, peer: b2}, c3: {hca: c, peer: a3}, a3: {hca: a, peer: c3}}
work:
  - {qp: a1, op: write, length: 1024, repeat: 100, every: 1ms}
  - {qp: b2, op: write, length: 1024, repeat: 99, every: 1ms}
  - {qp: c3, op: write, length: 1024, repeat: %, every: 1ms}
taps: [middle]
errors:
  - {do: drop, from: a, to: b, op: request, nth: 100, count: all, where: after}
`
	const want = "stopped: 2 busy connections between 3 hosts carry nothing either from about then on, and no request of them waits"
	for repeat, told := range map[string]bool{"101": true, "600": false, "20": false} {
		got := happened(t, frames(t, strings.Replace(scene, "%", repeat, 1)), agent.Options{})
		if strings.Contains(got, want) != told || !strings.Contains(got, "unanswered (proven)") {
			t.Errorf("%s messages: %s", repeat, got)
		}
	}
}
