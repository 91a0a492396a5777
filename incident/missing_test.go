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
	}{
		{"b", []int{4, 20, 50, 90}, "4 PSNs before the tap, never two in a row"},
		{"b", []int{4, 5, 6, 20, 50, 51, 52, 53, 90}, "9 PSNs before the tap, in 4 gaps of up to 4 in a row, which frame "},
		{"a", []int{4, 20, 50, 90}, ""},
	} {
		text := fmt.Sprintf(scene, tt.tap)
		for _, psn := range tt.lost {
			text += fmt.Sprintf("  - {do: drop, from: a, psn: +%d}\n", psn)
		}
		got := ""
		for _, i := range incident.Of(judged(t, frames(t, text), agent.Options{})) {
			for _, f := range i.Facts {
				if i.Kind == incident.Loss && f.Label == "missing" {
					got += f.Text
				}
			}
		}
		if !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("%v lost, tap at %s: %q, not %q", tt.lost, tt.tap, got, tt.want)
		}
	}
}
