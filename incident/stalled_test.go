package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
)

// TestStalled tells who an answer kept waiting, for how long, and what of the retransmissions was lost and what refused.
func TestStalled(t *testing.T) {
	const scene = `
about: WRITEs whose answers are late or lost
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {timeout: 16}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
taps: [middle]
`
	const slow = "10.1.0.1 QP 0x9bc waited 1s for 10.1.0.2 QP 0xa32 to answer, without a retransmission"
	const lost = "asked again after 412ms for what 10.1.0.2 QP 0xa32 had answered: the answer passed the tap"
	for name, tt := range map[string]struct {
		work string
		want []string
		not  string
	}{
		"all answers are held while requests go on": {`attributes: {timeout: 21}
work:
  - {qp: a1, op: write, length: 1000, repeat: 60, every: 100ms}
errors:
  - {do: delay, from: b, op: ack, nth: 20, delay: 1s, hold: true}
`, []string{slow}, ""},
		"none is held": {`work:
  - {qp: a1, op: write, length: 1000, repeat: 60, every: 100ms}
`, nil, "waited"},
		"an answer is lost after the tap": {`work:
  - {qp: a1, op: write, length: 1000, repeat: 5, every: 1s}
errors:
  - {do: drop, from: b, op: ack, nth: 3, where: after}
`, []string{lost}, "Nothing that"},
		"a request is lost after the tap": {`work:
  - {qp: a1, op: write, length: 1000, repeat: 5, every: 1s}
errors:
  - {do: drop, from: a, op: write_only, nth: 3, where: after}
`, []string{"Nothing that 10.1.0.1 QP 0x9bc sent to 10.1.0.2 QP 0xa32 was answered for 412ms"}, "asked again"},
		"what a NAK asks for is lost too": {`work:
  - {qp: a1, op: write, length: 8000, repeat: 3, every: 1s}
errors:
  - {do: drop, from: a, psn: +1, count: 2, where: after}
`, []string{"Nothing that 10.1.0.1 QP 0x9bc sent to 10.1.0.2 QP 0xa32 was acknowledged for 450ms, not even what a PSN sequence NAK asked for; then it went on."}, "was answered for"},
		"a receiver is not ready, and one packet is lost": {`attributes: {timeout: 16, min_rnr_timer: 20, rnr_retry: 7}
work:
  - {qp: b1, op: receive, length: 8000, repeat: 20, every: 15ms}
  - {qp: a1, op: send, length: 8000, repeat: 20, every: 10ms}
errors:
  - {do: drop, from: a, psn: +90, count: 4, where: after}
`, []string{"retransmitted for it (", "loss (proven): 10.1.0.1 QP 0x9bc retransmitted "}, "storm"},
	} {
		text := scene + tt.work
		if strings.HasPrefix(tt.work, "attributes:") {
			text = strings.Replace(scene, "attributes: {timeout: 16}\n", "", 1) + tt.work
		}
		got := happened(t, frames(t, text), agent.Options{})
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s\nwant %q", name, got, want)
			}
		}
		if tt.not != "" && strings.Contains(got, tt.not) {
			t.Errorf("%s: %s", name, got)
		}
	}
}
