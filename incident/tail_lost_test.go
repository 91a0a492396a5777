package incident_test

import (
	"strings"
	"testing"
)

// TestTailLost: where the tap lacks the end of a message until the timer has it retransmitted, that is why nobody asked for it; where it has passed the tap, that is not known.
func TestTailLost(t *testing.T) {
	const scene = `
about: WRITEs the end of one of which is lost
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 1024, timeout: 16, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
work:
  - {qp: a1, op: write, length: 4096, repeat: 20, every: 5ms}
taps: [middle]
errors:
`
	const tail, one = "fits: the end of what was sent, which the tap has not seen before it was retransmitted", "one packet, or its answer, that was lost, and a retransmission timer"
	for errors, want := range map[string]bool{"  - {do: drop, from: a, psn: 0x10004f}\n": true, "  - {do: drop, from: a, psn: 0x10004f, where: after}\n": false} {
		got := reasons(t, scene+errors)
		if !strings.Contains(got, "interrupted (proven)") || strings.Contains(got, tail) != want || strings.Contains(got, one) == want {
			t.Errorf("%q: %s", errors, got)
		}
	}
}
