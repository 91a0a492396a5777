package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
)

// TestLate: where each copy of a request was answered, the answers came late and nothing was lost; where an answer was lost after the tap, that is told.
func TestLate(t *testing.T) {
	const scene = `
about: SENDs whose first answer is held up, or lost
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {timeout: 4}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
work:
  - {qp: b1, op: receive, length: 1000, repeat: 20}
  - {qp: a1, op: send, length: 1000, repeat: 20, every: 2ms}
taps: [middle]
errors:
`
	for name, tt := range map[string]struct{ fault, want, not string }{
		"the answer is late":                {"{do: delay, from: b, op: ack, nth: 5, delay: 200us}", "the answers came late, and each copy was answered.", "where: once after"},
		"the answer is lost after the tap":  {"{do: drop, from: b, op: ack, nth: 5, where: after}", "where: once on the way back: the answer had passed the tap, and was lost after it or came too late", "late, and"},
		"the answer is lost before the tap": {"{do: drop, from: b, op: ack, nth: 5}", "where: once after the tap, or on the way back", "late, and"},
		"the request is lost":               {"{do: drop, from: a, op: send_only, nth: 5, where: after}", "where: once after the tap, or on the way back", "late, and"},
	} {
		got := happened(t, frames(t, scene+"  - "+tt.fault+"\n"), agent.Options{})
		if !strings.Contains(got, tt.want) || strings.Contains(got, tt.not) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestDamagedAnswers: where responses to a READ pass the tap damaged, and later ones whole, it is not told that its answer had passed.
func TestDamagedAnswers(t *testing.T) {
	const scene = `
about: READs whose first response is damaged twice, before SENDs
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {timeout: 12, pmtu: 1024}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
work:
  - {qp: b1, op: receive, length: 1000, repeat: 20}
  - {qp: a1, op: read, length: 4000, repeat: 20, every: 2ms}
  - {qp: a1, op: send, length: 1000, repeat: 20, every: 2ms}
taps: [middle]
errors:
  - {do: %s, from: b, to: a, op: read_response_first, nth: 5, count: 2}
`
	const passed, other = "the answer had passed the tap", "on the way back, before the tap: a response is missing"
	damaged := happened(t, frames(t, strings.Replace(scene, "%s", "corrupt, flip: 1", 1)), agent.Options{})
	if strings.Contains(damaged, passed) || !strings.Contains(damaged, other+" or damaged, or came after a later one") {
		t.Error(damaged)
	}
	if missing := happened(t, frames(t, strings.Replace(scene, "%s", "drop", 1)), agent.Options{}); !strings.Contains(missing, other+", or came after a later one") {
		t.Error(missing)
	}
}
