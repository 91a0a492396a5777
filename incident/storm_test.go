package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
)

// long are WRITEs over a link on which a packet takes long.
const long = `
about: WRITEs over a slow link
hcas:
  a: 10.0.0.1
  b: 10.0.0.2
link: {delay: 2ms, rate: 100000000}
attributes: {timeout: 14}
qps:
  a1: {hca: a, peer: b1}
  b1: {hca: b, peer: a1}
work:
  - {qp: a1, op: write, length: 8000, repeat: 300}
`

// TestStorm: where much of what is sent for long is retransmitted, that is told in place of the loss, and what it cost.
func TestStorm(t *testing.T) {
	tests := []struct {
		name, errors string
		want, not    string
	}{
		{"nothing lost", "", "frames: 0", "("},
		{"one packet lost", "errors:\n  - {do: drop, from: a, op: write, psn: +100}\n", "loss (proven)", "storm"},
		{"every twentieth lost", "errors:\n  - {do: drop, from: a, op: write, probability: 0.05, count: all}\n", "storm (proven)", "loss (proven)"},
	}
	for _, tt := range tests {
		told := happened(t, frames(t, long+tt.errors), agent.Options{})
		if !strings.Contains(told, tt.want) || strings.Contains(told, tt.not) {
			t.Errorf("%s: told %s\nwant %q, and not %q", tt.name, told, tt.want, tt.not)
		}
	}
}

// TestNothingAskedFor: where only timers have many packets retransmitted, again and again, and nothing is asked for, it is the answers first of all that come late or are lost; where a receiver asks for some, it is not.
func TestNothingAskedFor(t *testing.T) {
	const scene = `
about: answers that are lost
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 1024, timeout: 12, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
taps: [middle]
work: [{qp: a1, op: write, length: 8192, repeat: 60, every: 100ms}]
errors:
  - {do: drop, from: b, to: a, op: ack, probability: 0.5}
`
	const answers = "fits: a responder that answers later than the requester's ACK timeout, or answers that are lost on the way back"
	if got := reasons(t, scene); !strings.Contains(got, answers) {
		t.Error(got)
	}
	if got := reasons(t, scene+"  - {do: drop, from: a, to: b, op: request, probability: 0.05, where: after}\n"); strings.Contains(got, answers) {
		t.Error("it asks for some:", got)
	}
}
