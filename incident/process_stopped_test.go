package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/incident"
)

// TestProcessStopped: of a receiver that takes messages, answers none of them for long, and then refuses others it is told first that its program
// stopped, and what shows that its adapter went on; not of one that answers until it refuses, nor of one that answers another that it refuses meanwhile, and not the READs where none came.
func TestProcessStopped(t *testing.T) {
	const scene = `
about: SENDs that are answered, but for a while, and more of them than receives
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {timeout: 18, min_rnr_timer: 18, rnr_retry: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}}
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
	const stops = "  - {qp: b1, op: send, length: 100, repeat: 40, every: 1ms, at: 700ms}\n"
	const reads = "  - {qp: a2, op: read, length: 64, repeat: 400, every: 2ms}\n"
	const serves = "  - {qp: b2, op: receive, length: 1000, every: 30ms, repeat: 40}\n  - {qp: a2, op: send, length: 100, every: 20ms, repeat: 40}\n  - {qp: a2, op: receive, length: 1000, repeat: 40}\n" +
		"  - {qp: b2, op: send, length: 100, every: 30ms, repeat: 40, at: 1ms}\n"
	const told, answered = "The program of 10.1.0.2, or all of it, stopped or waited, and not its adapter or the network: it answered nothing that came from", "10.1.0.2 answered RDMA READs"
	for name, k := range map[string]struct {
		work        string
		want, reads bool
	}{
		"it had stopped":     {stops, true, false},
		"READs are answered": {stops + reads, true, true},
		"it serves another":  {stops + serves, false, false},
		"it answered still":  {"  - {qp: b1, op: send, length: 100, repeat: 20, every: 5ms, at: 400200us}\n  - {qp: b1, op: send, length: 100, repeat: 20, every: 1ms, at: 710ms}\n" + reads, false, false},
	} {
		r := judged(t, frames(t, scene+k.work), agent.Options{Timing: true})
		list, got := incident.Of(r), toldOf(r)
		if len(list) == 0 || strings.HasPrefix(list[0].What, told) != k.want || strings.Contains(got, told) != k.want || strings.Contains(got, answered) != k.reads {
			t.Errorf("%s: %s", name, got)
		}
	}
}
