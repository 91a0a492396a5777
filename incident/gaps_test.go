package incident_test

import (
	"fmt"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/incident"
)

// TestGaps: PSNs of UC that are missing are told, with how many messages they are of at least; not where none is missing, nor what the network delivered late.
func TestGaps(t *testing.T) {
	const scene = `
about: SENDs of eight packets each on UC
attributes: {type: UC}
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
`
	for _, tt := range []struct {
		tap  string
		lost []int
		want string
	}{
		{"b", nil, ""},
		{"a", []int{4, 20, 50, 90}, ""},
		{"b", []int{4, 20, 50, 90}, "4 packets that 10.0.0.1 sent to 10.0.0.2 QP 0xa32 are missing before the tap (2.5 %), in 4 gaps; UC retransmits nothing. at least 4 messages are"},
		{"b", []int{50}, "1 packet that 10.0.0.1 sent to 10.0.0.2 QP 0xa32 is missing before the tap (0.62 %), in 1 gap; UC retransmits nothing. at least 1 message is"},
		{"b", []int{10, 12, 13}, "3 packets that 10.0.0.1 sent to 10.0.0.2 QP 0xa32 are missing before the tap (1.9 %), in 2 gaps; UC retransmits nothing. at least 1 message is"},
		{"b", []int{7, 8, 9}, "3 packets that 10.0.0.1 sent to 10.0.0.2 QP 0xa32 are missing before the tap (1.9 %), in 1 gap; UC retransmits nothing. at least 1 message is"},
	} {
		text := fmt.Sprintf(scene, tt.tap)
		if len(tt.lost) > 0 {
			text += "errors:\n"
		}
		for _, psn := range tt.lost {
			text += fmt.Sprintf("  - {do: drop, from: a, psn: +%d}\n", psn)
		}
		got := ""
		for _, i := range incident.Of(judged(t, frames(t, text), agent.Options{})) {
			if got += i.What + " "; i.Kind == incident.Loss && len(i.Facts) > 0 {
				got += i.Facts[0].Text
			}
		}
		if !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("%v lost, tap at %s: %q, not %q", tt.lost, tt.tap, got, tt.want)
		}
	}
}

// TestGapFilled: a packet of UC that comes late is not missing.
func TestGapFilled(t *testing.T) {
	list := frames(t, strings.Replace(writes, "hcas:", "attributes: {type: UC}\nhcas:", 1))
	list[3], list[4] = list[4], list[3]
	for _, i := range incident.Of(judged(t, list, agent.Options{})) {
		if i.Kind != incident.Reordered {
			t.Errorf("%v: %s", i.Kind, i.What)
		}
	}
}
