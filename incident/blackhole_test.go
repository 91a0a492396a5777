package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
)

// TestBlackHole: a peer that asks for a packet which the path drops is told to have done so, and not to be gone.
func TestBlackHole(t *testing.T) {
	const scene = `
about: WRITEs whose large packets the path drops
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 4096, timeout: 14, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
work:
  - {qp: a1, op: write, length: 1000, repeat: 10, every: 1ms}
  - {qp: a1, op: write, length: 65536, at: 40ms}
taps: [middle]
errors:
`
	for name, tt := range map[string]struct{ drop, want, not string }{
		"all but the last packet": {
			"{do: drop, from: a, op: [write_first, write_middle], count: all, where: after}",
			"asked for it with a PSN sequence NAK, and never acknowledged it", "in the error state",
		},
		"all packets of it": {"{do: drop, from: a, op: [write_first, write_middle, write_last], count: all, where: after}", "never answered it", "a PSN sequence NAK"},
	} {
		list := judged(t, frames(t, scene+"  - "+tt.drop+"\n"), agent.Options{})
		got := toldOf(list)
		if !strings.Contains(got, tt.want) || strings.Contains(got, tt.not) {
			t.Errorf("%s: %s", name, got)
		}
	}
}
