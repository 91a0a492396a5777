package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
)

// TestNeedless: where as many ACKs come as requests and their copies ask for, the retransmission was needless, though ACKs of copies carry the newest PSN; where requests or answers are lost as often, it is not told so.
func TestNeedless(t *testing.T) {
	const scene = `
about: bursts of WRITEs whose answers take longer than the timer
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 1024, timeout: 8, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
taps: [middle]
work:
  - {qp: a1, op: write, length: 3000, repeat: 30, every: 20ms}
  - {qp: a1, op: write, length: 3000, repeat: 30, every: 20ms, at: 200us}
  - {qp: a1, op: write, length: 3000, repeat: 30, every: 20ms, at: 400us}
errors:
`
	const late, said = "  - {do: delay, from: b, to: a, op: ack, count: 999, delay: 2ms}\n", "the answers came late, and "
	for name, tt := range map[string]struct {
		faults string
		want   bool
	}{
		"late":          {late, true},
		"answers lost":  {"  - {do: drop, from: b, to: a, op: ack, probability: 0.5, count: all}\n", false},
		"requests lost": {"  - {do: drop, from: a, to: b, op: write, probability: 0.2, count: all, where: after}\n", false},
		"both":          {late + "  - {do: drop, from: a, to: b, op: write, probability: 0.2, count: all, where: after}\n", false},
	} {
		got := happened(t, frames(t, scene+tt.faults), agent.Options{Timing: true})
		if strings.Contains(got, said) != tt.want || !strings.Contains(got, "retransmitted") {
			t.Errorf("%s: %s", name, got)
		}
	}
}
