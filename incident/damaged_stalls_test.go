package incident_test

import (
	"strings"
	"testing"
)

// TestDamagedStalls: what a requester waited for as its packets came damaged is told under the damage, from the packet that was damaged on,
// and not since the answer before it; not where it was also lost, or nothing was damaged.
func TestDamagedStalls(t *testing.T) {
	const scene = `
about: WRITEs now and then, some of which are damaged
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 1024, timeout: 15, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
work:
  - {qp: a1, op: write, length: 1000, repeat: 20, every: 300ms}
taps: [middle]
errors:
`
	const waits, told = "10.1.0.1 QP 0x9bc made no progress for up to 206ms, until its timer expired.", "stalls: 206ms of 10.1.0.1 QP 0x9bc"
	for errors, want := range map[string]bool{
		"  - {do: corrupt, from: a, nth: 3, count: 1, flip: 1}\n":                                            true,
		"  - {do: drop, from: a, nth: 3, count: 1}\n":                                                        false,
		"  - {do: corrupt, from: a, nth: 3, count: 1, flip: 1}\n  - {do: drop, from: a, nth: 4, count: 1}\n": false,
	} {
		got := reasons(t, scene+errors)
		if strings.Contains(got, waits) != want || strings.Contains(got, told) != want || want && strings.Contains(got, "interrupted") {
			t.Errorf("%q: %s", errors, got)
		}
	}
}
