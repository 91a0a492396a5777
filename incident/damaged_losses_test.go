package incident_test

import (
	"strings"
	"testing"
)

// TestLostToDamage: damage between several pairs of hosts tells of what was retransmitted for it, and what timers that took; losses of connections
// of which fewer packets came damaged are told on their own.
func TestLostToDamage(t *testing.T) {
	const scene = `
about: WRITEs between two pairs of hosts, some of which are damaged
hcas: {a: 10.1.0.1, b: 10.1.0.2, c: 10.1.0.3, d: 10.1.0.4}
attributes: {pmtu: 1024, timeout: 13, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, c1: {hca: c, peer: d1}, d1: {hca: d, peer: c1}}
work:
  - {qp: a1, op: write, length: 4000, repeat: 20, every: 10ms}
  - {qp: c1, op: write, length: 4000, repeat: 20, every: 10ms}
taps: [middle]
errors:
  - {do: corrupt, from: a, to: b, nth: 43, count: 1, flip: 1}
`
	const told, timer, losses = "2 queue pairs had ", ", once only once a timer had expired, after up to ", "loss ("
	for errors, want := range map[string]struct{ told, timer, losses bool }{
		"  - {do: corrupt, from: c, to: d, nth: 43, count: 1, flip: 1}\n":                                                    {true, false, false},
		"  - {do: corrupt, from: c, to: d, nth: 80, count: 1, flip: 1}\n":                                                    {true, true, false},
		"  - {do: corrupt, from: c, to: d, nth: 43, count: 1, flip: 1}\n  - {do: drop, from: c, to: d, nth: 30, count: 1}\n": {false, false, true},
		"  - {do: corrupt, from: c, to: d, nth: 3, count: 1, flip: 1}\n  - {do: drop, from: c, to: d, nth: 30, count: 1}\n":  {false, false, true}, // the first packets of a capture
		"": {false, false, false},
	} {
		got := reasons(t, scene+errors)
		if strings.Contains(got, told) != want.told || strings.Contains(got, timer) != want.timer || strings.Contains(got, losses) != want.losses {
			t.Errorf("%q: %s", errors, got)
		}
	}
}

// TestLostToDamageBetween: damage between two hosts tells of what all their connections retransmitted for it, and which did most; not where
// something was lost on one of them that did not come damaged.
func TestLostToDamageBetween(t *testing.T) {
	const scene = `
about: WRITEs on two connections between the same hosts, some of which are damaged
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 1024, timeout: 13, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}}
work:
  - {qp: a1, op: write, length: 4000, repeat: 20, every: 10ms}
  - {qp: a2, op: write, length: 9000, repeat: 20, every: 10ms, at: 5ms}
taps: [middle]
errors:
  - {do: corrupt, from: a, nth: 14, count: 1, flip: 1}
  - {do: corrupt, from: a, nth: 25, count: 1, flip: 1}
`
	const both, most, one = "2 queue pairs had ", "most: 10.1.0.1 QP ", " retransmitted "
	for errors, want := range map[string]bool{"": true, "  - {do: drop, from: a, nth: 100, count: 1}\n  - {do: drop, from: a, nth: 150, count: 1}\n": false} {
		got := reasons(t, scene+errors)
		if strings.Contains(got, both) != want || strings.Contains(got, most) != want || !strings.Contains(got, one) || want && strings.Contains(got, "loss (") {
			t.Errorf("%q: %s", errors, got)
		}
	}
}
