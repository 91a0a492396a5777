package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
)

// TestSlowestWaited: where lone requests are lost, the slowest messages are those that waited for the timer, and hosts to which nothing was lost are
// named; not where few are, or NAKs ask for them.
func TestSlowestWaited(t *testing.T) {
	const scene = `
about: lone WRITEs, some of which are lost, beside others
hcas: {a: 10.1.0.1, b: 10.1.0.2, c: 10.1.0.3}
attributes: {pmtu: 1024, timeout: 8, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: c1}, c1: {hca: c, peer: a2}}
taps: [middle]
work:
  - {qp: a1, op: write, length: 100, repeat: 200, every: 5ms}
  - {qp: b1, op: write, length: 100, repeat: 200, every: 5ms, at: 2ms}
  - {qp: a2, op: write, length: 100, repeat: 400, every: 2ms}
errors:
  - {do: drop, from: a, to: b, op: write, psn: 0x100012, where: after}
`
	const (
		waited = "slowest: the slowest 1 % of 200 messages took 1."
		others = "others: 10.1.0.1 retransmitted nothing to 10.1.0.3, of 400 messages"
		share  = "retransmitted 5 of 205 requests to 10.1.0.2"
	)
	more := ""
	for _, psn := range []string{"20", "38", "51", "70"} {
		more += "  - {do: drop, from: a, to: b, op: write, psn: 0x1000" + psn + ", where: after}\n"
	}
	for errors, want := range map[string]bool{more: true, "": false} {
		got := happened(t, frames(t, scene+errors), agent.Options{Timing: true})
		for _, s := range []string{waited, others, share} {
			if strings.Contains(got, s) != want {
				t.Errorf("%q is %v expected: %s", s, want, got)
			}
		}
	}
}
