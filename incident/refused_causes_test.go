package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
)

// TestRefusedCauses: refusals for different causes are not one; those for the same are.
func TestRefusedCauses(t *testing.T) {
	const scene = `
about: WRITEs that are refused
hcas: {a: 10.0.0.1, b: 10.0.0.2}
taps: [middle]
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}}
work:
  - {qp: a1, op: write, length: 200, repeat: 10}
  - {qp: a1, op: write, length: 200, bad_key: true, at: 9ms}
  - {qp: a2, op: write, length: 200, repeat: 10, at: 10ms}
  - {qp: a2, op: write, length: 200, at: 20ms, `
	for last, one := range map[string]bool{"bad_key: true}\n": true, "bad_key: true, offset: 65536}\n": false} {
		got := happened(t, frames(t, scene+last), agent.Options{})
		if strings.Contains(got, "1 more connection between the same hosts likewise") != one || strings.Contains(got, "frames: 2") == one {
			t.Errorf("%s: %s", last, got)
		}
	}
}
