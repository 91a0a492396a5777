package incident_test

import (
	"strings"
	"testing"
)

// TestCutOff: a peer of which only retransmissions come is not told to be alive: what its requester sends does not reach it. One that still answers others is, and so is one that has nothing to
// retransmit.
func TestCutOff(t *testing.T) {
	const head = `
about: a path that fails in one direction
hcas: {a: 10.2.0.1, b: 10.2.0.2, c: 10.2.0.3}
attributes: {timeout: 12, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}, b3: {hca: b, peer: c3}, c3: {hca: c, peer: b3}}
taps: [middle]
errors: [{do: drop, from: a, to: b, nth: 40, count: all, where: after}]
work:
  - {qp: a1, op: write, length: 1024, repeat: 100, every: 1ms}
`
	const (
		only = "but: of 10.2.0.2 came only retransmissions in the end"
		path = "a path that fails on the way to 10.2.0.2: what it sends comes through, and nothing comes to it"
		dead = "a queue pair of 10.2.0.2 that was destroyed or is in the error state"
	)
	for _, k := range []struct{ name, more, want, not string }{
		{"both send", "  - {qp: b2, op: write, length: 1024, repeat: 100, every: 1ms}\n", only, dead},
		{"and it answers another", "  - {qp: b2, op: write, length: 1024, repeat: 100, every: 1ms}\n  - {qp: c3, op: write, length: 1024, repeat: 300, every: 1ms}\n", dead, only},
		{"it sends to another", "  - {qp: b3, op: write, length: 1024, repeat: 300, every: 1ms}\n", dead, only},
	} {
		got := reasons(t, head+k.more)
		first, _, _ := strings.Cut(got, "\nunanswered")
		if !strings.Contains(first, k.want) || strings.Contains(first, k.not) || strings.Contains(first, path) != (k.want == only) {
			t.Errorf("%s:\n%s", k.name, got)
		}
	}
}
