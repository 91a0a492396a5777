package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
)

// TestLateAtOnce: requesters of several responders whose answers become slower at the same time, beyond their timers, are told as one, with how long answers took before, and the one with a longer timer that
// retransmitted nothing; not where they become so at different times, nor where requests are lost.
func TestLateAtOnce(t *testing.T) {
	const scene = `
about: SENDs whose answers are slow for a while
hcas: {a: 10.1.0.1, b: 10.1.0.2, c: 10.1.0.3, d: 10.1.0.4, e: 10.1.0.5, f: 10.1.0.6}
attributes: {timeout: 8}
qps: {a1: {hca: a, peer: d1}, d1: {hca: d, peer: a1}, b1: {hca: b, peer: e1}, e1: {hca: e, peer: b1}, c1: {hca: c, peer: f1, timeout: 14}, f1: {hca: f, peer: c1}}
taps: [middle]
work:
  - {qp: a1, op: write, length: 1000, repeat: 60, every: 8ms}
  - {qp: b1, op: write, length: 1000, repeat: 60, every: 8ms}
  - {qp: c1, op: write, length: 1000, repeat: 60, every: 8ms}
errors:
  - {do: delay, from: d, to: a, op: ack, nth: 20, count: 40, delay: 1400us}
  - {do: delay, from: e, to: b, op: ack, nth: NTH, count: 40, delay: 1400us}
  - {do: delay, from: f, to: c, op: ack, nth: 20, count: 20, delay: 1400us}
`
	const said = "2 connections of 2 hosts had answers that took longer than their ACK timeouts at the same time"
	for nth, want := range map[string]bool{"20": true, "42": false} {
		got := happened(t, frames(t, strings.NewReplacer("NTH", nth, "1400us", "2ms").Replace(scene)), agent.Options{Timing: true})
		if strings.Contains(got, said) != want {
			t.Errorf("%s: %s", nth, got)
		}
		if want && !strings.Contains(got, "the same delay, and nothing retransmitted: 10.1.0.3") {
			t.Errorf("spared: %s", got)
		}
	}
	if got := happened(t, frames(t, strings.NewReplacer("NTH", "20", "do: delay", "do: drop", ", delay: 1400us", "").Replace(scene)), agent.Options{Timing: true}); strings.Contains(got, said) {
		t.Error("lost:", got)
	}
}
