package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/incident"
)

// TestWrongQPN: where a peer takes nothing of a requester from its first packet on, and other connections between the hosts work, a wrong destination QPN fits first, and its own request is no incident beside
// that. Not where something was taken before, the answers are taken, no other connection works, or the connection may be older than the capture.
func TestWrongQPN(t *testing.T) {
	const scene = `
about: a queue pair that sends to a number that is not that of its peer
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {timeout: 12, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}}
taps: [middle]
work:
`
	const (
		others  = "  - {qp: a2, op: write, length: 100, repeat: 60, every: 10ms}\n  - {qp: b2, op: write, length: 100, repeat: 60, every: 10ms}\n"
		begins  = "  - {qp: a1, op: write, length: 1000, repeat: 3, every: 1ms, at: 250ms}\n  - {qp: b1, op: write, length: 100, at: 252ms}\n"
		older   = "  - {qp: a1, op: write, length: 1000, repeat: 3, every: 1ms, at: 2ms}\n  - {qp: b1, op: write, length: 100, at: 3ms}\n"
		never   = "errors:\n  - {do: drop, from: a, psn: 0x100000, count: all, where: after}\n"
		later   = "errors:\n  - {do: drop, from: a, psn: 0x100001, count: all, where: after}\n"
		request = "  - {do: drop, from: a, to: b, psn: 0x100001, count: all, where: after}\n  - {do: drop, from: a, to: b, psn: 0x100002, count: all, where: after}\n"
		acks    = "  - {do: drop, from: a, to: b, op: ack, psn: 0x200000, count: all, where: after}\n"
		wrong   = "a wrong destination QPN on 10.1.0.1: QP 0xa32 of 10.1.0.2 is none, or another than the one that sends to QP 0x9bc"
		open    = "QPN: whether that queue pair has the number 0xa32 does not show"
	)
	for name, tt := range map[string]struct {
		text string
		told bool
	}{
		"from the first packet on":   {others + begins + never + request + acks, true},
		"the first was taken":        {others + begins + later + request + acks, false},
		"the answers are taken":      {others + begins + never + request, false},
		"no other connection":        {begins + never + request + acks, false},
		"older than the capture may": {others + older + never + request + acks, false},
	} {
		r := judged(t, frames(t, scene+tt.text), agent.Options{})
		got, list := toldOf(r), incident.Of(r)
		if len(list) == 0 {
			t.Errorf("%s: nothing is told", name)
			continue
		}
		fits := strings.Join(list[0].FitsWith, "; ")
		if strings.HasPrefix(fits, wrong) != tt.told || strings.Contains(fits, "wrong destination QPN") != tt.told || strings.Contains(got, open) != tt.told || tt.told && (len(list) != 1 || !strings.Contains(fits, "less likely one path")) {
			t.Errorf("%s: %s\n%q", name, got, fits)
		}
	}
}
