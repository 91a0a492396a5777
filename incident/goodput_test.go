package incident_test

import (
	"strings"
	"testing"
)

// TestGoodput: where much of what goes to several hosts is retransmitted for part of the time, what came through then and in the rest is told, to each; where little is, it is not.
func TestGoodput(t *testing.T) {
	const scene = `
about: WRITEs to two hosts beyond a path that loses packets for a while, and to one that is near
link: {delay: 100us}
hcas: {a: 10.1.0.1, b: 10.1.0.2, c: 10.1.0.3, d: 10.1.0.4}
attributes: {pmtu: 1024, timeout: 14, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: c1}, c1: {hca: c, peer: a2}, a3: {hca: a, peer: d1}, d1: {hca: d, peer: a3}}
work:
  - {qp: a1, op: write, length: 65536, repeat: 700, every: 1ms}
  - {qp: a2, op: write, length: 65536, repeat: 700, every: 1ms}
  - {qp: a3, op: write, length: 65536, repeat: 700, every: 1ms}
taps: [a]
errors:
`
	for lost, want := range map[string]bool{"probability: 0.02, count: 150": true, "probability: 0.001, count: 60": false} {
		errors := ""
		for _, to := range []string{"b", "c"} {
			errors += "  - {do: drop, from: a, to: " + to + ", op: request, " + lost + ", where: after}\n"
		}
		got := reasons(t, scene+errors)
		if !strings.Contains(got, "Packets from 10.1.0.1 to 10.1.0.2 and 10.1.0.3 were lost after the tap") || strings.Contains(got, "goodput: new payload: ") != want ||
			strings.Contains(got, " in which much was retransmitted (") != want || !strings.Contains(got, "that they have in common; or the link, adapter or switch port of each of them") {
			t.Errorf("%s: %s", lost, got)
		}
	}
}
