package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/incident"
)

// TestOvertakenAfterTap: where a receiver takes what it has asked for before that is retransmitted, packets overtook one another after the tap: that fits first. Where packets are lost there, it fits last, and nothing
// else is said.
func TestOvertakenAfterTap(t *testing.T) {
	const scene = `
about: WRITEs, some packets of which come late or not at all
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 1024, timeout: 14}
link: {delay: 20us}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
taps: [middle]
work:
  - {qp: a1, op: write, length: 262144, repeat: 10, every: 1ms}
errors:
`
	const (
		took  = "it took what it had asked for before that was retransmitted: others had only overtaken it"
		first = "packets that overtake one another after the tap"
	)
	for fault, want := range map[string]bool{"do: delay, delay: 5us": true, "do: drop": false} {
		text := scene
		for _, nth := range []string{"20", "300", "560", "830", "1100"} {
			text += "  - {" + fault + ", from: a, op: write, nth: " + nth + ", where: after}\n"
		}
		r := judged(t, frames(t, text), agent.Options{})
		got, fits := toldOf(r), strings.Join(incident.Of(r)[0].FitsWith, "; ")
		if strings.Contains(got, took) != want || strings.HasPrefix(fits, first) != want || !strings.Contains(fits, first) {
			t.Errorf("%s: %s%s", fault, got, fits)
		}
	}
}
