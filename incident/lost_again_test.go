package incident_test

import (
	"strings"
	"testing"
)

// TestAnsweredByNAK: where what ends a stall is a PSN sequence NAK for a later packet of the request, that was lost too, which is told, and not a host that stopped; where it is an ACK, it is not.
func TestAnsweredByNAK(t *testing.T) {
	const scene = `
about: WRITEs a packet of one of which is lost, and once more when it is retransmitted
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 1024, timeout: 16, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
work:
  - {qp: a1, op: write, length: 8192, repeat: 20, every: 5ms}
taps: [a]
errors:
  - {do: drop, from: a, psn: 0x10004a, count: 2}
`
	const fits, said = "fits: packets that were lost, and others of the same request that were lost when it was retransmitted", ": a PSN sequence NAK for a later packet, which was lost too"
	for more, want := range map[string]bool{"  - {do: drop, from: a, psn: 0x10004c, count: 3}\n": true, "  - {do: drop, from: a, psn: 0x10004c, count: 2}\n": false} {
		got := reasons(t, scene+more)
		if !strings.Contains(got, "interrupted (proven)") || strings.Contains(got, fits) != want || strings.Contains(got, said) != want || strings.Contains(got, "or a host or adapter that stopped") == want {
			t.Errorf("%q: %s", more, got)
		}
	}
}
