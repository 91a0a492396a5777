package incident_test

import (
	"fmt"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/incident"
)

// TestMissing: what was lost before the tap, and retransmitted, is told to have been lost one by one or in runs; what was lost after it is not.
func TestMissing(t *testing.T) {
	const scene = `
about: SENDs of eight packets each, some of which are lost
hcas:
  a: 10.0.0.1
  b: 10.0.0.2
qps:
  a1: {hca: a, peer: b1}
  b1: {hca: b, peer: a1}
taps: [%s]
work:
  - {qp: b1, op: receive, length: 8000, repeat: 20}
  - {qp: a1, op: send, length: 8000, repeat: 20, every: 20us}
errors:
`
	for _, tt := range []struct {
		tap  string
		lost []int
		want string
		side string
	}{
		{"b", []int{20, 34, 50, 90}, "at least 4 PSNs before the tap, never two in a row", "4 times before the tap, which has not seen in order what the receiver asked for"},
		{"b", []int{20, 34, 35, 36, 50, 51, 52, 53, 90}, "at least 9 PSNs before the tap, in 4 gaps of up to 4 in a row, which frame ", "4 times before the tap, which has not seen in order what the receiver asked for"},
		{"a", []int{20, 34, 50, 90}, "", "4 times after the tap: the receiver asked for what the tap shows"},
	} {
		text := fmt.Sprintf(scene, tt.tap)
		for _, psn := range tt.lost {
			text += fmt.Sprintf("  - {do: drop, from: a, psn: +%d}\n", psn)
		}
		got, side := "", ""
		for _, i := range incident.Of(judged(t, frames(t, text), agent.Options{})) {
			for _, f := range i.Facts {
				switch {
				case i.Kind != incident.Loss:
				case f.Label == "missing":
					got += f.Text
				case f.Label == "where":
					side += f.Text
				}
			}
		}
		if !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("%v lost, tap at %s: %q, not %q", tt.lost, tt.tap, got, tt.want)
		}
		if side != tt.side {
			t.Errorf("%v lost, tap at %s: %q, not %q", tt.lost, tt.tap, side, tt.side)
		}
	}
}
