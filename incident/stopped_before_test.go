package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/incident"
)

// TestStoppedBefore: of a receiver that had answered nothing for long when it was first not ready it is told that its program had stopped; not of one that answers until then.
func TestStoppedBefore(t *testing.T) {
	const scene = `
about: SENDs that are answered, but for a while, and more of them than receives
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {timeout: 18, min_rnr_timer: 18, rnr_retry: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
taps: [middle]
work:
  - {qp: a1, op: receive, length: 1000, repeat: 700}
  - {qp: b1, op: receive, length: 1000, repeat: 420}
  - {qp: b1, op: receive, length: 1000, repeat: 250, at: 690ms}
  - {qp: a1, op: send, length: 100, repeat: 400, every: 1ms}
  - {qp: b1, op: send, length: 100, repeat: 400, every: 1ms, at: 200us}
  - {qp: a1, op: send, length: 100, repeat: 40, every: 5ms, at: 400ms}
  - {qp: a1, op: send, length: 100, repeat: 200, every: 1ms, at: 800ms}
  - {qp: b1, op: send, length: 100, repeat: 200, every: 1ms, at: 800200us}
`
	const told, stopped = "program: a message that it had acknowledged had waited ", "a program on 10.1.0.2 that stopped, or waited itself"
	for name, tt := range map[string]struct {
		work string
		want bool
	}{
		"it had stopped":    {"  - {qp: b1, op: send, length: 100, repeat: 40, every: 1ms, at: 700ms}\n", true},
		"it answered still": {"  - {qp: b1, op: send, length: 100, repeat: 20, every: 5ms, at: 400200us}\n  - {qp: b1, op: send, length: 100, repeat: 20, every: 1ms, at: 710ms}\n", false},
	} {
		r := judged(t, frames(t, scene+tt.work), agent.Options{Timing: true})
		got, fits := toldOf(r), ""
		for _, i := range incident.Of(r) {
			fits += strings.Join(i.FitsWith, "; or ")
		}
		if !strings.Contains(got, "was not ready for the requests") || strings.Contains(got, told) != tt.want || strings.HasPrefix(fits, stopped) != tt.want {
			t.Errorf("%s: %s%s", name, got, fits)
		}
	}
}
