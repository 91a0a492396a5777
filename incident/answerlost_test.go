package incident_test

import (
	"strings"
	"testing"
)

// TestAnswersLost: a request whose answers pass the tap, and are lost after it, is told to be retransmitted until its requester gave up, where it did so 7 times; not where it did less
// often: the newest answer may have arrived.
func TestAnswersLost(t *testing.T) {
	const head = `
about: answers that are lost after the tap
hcas: {a: 10.2.0.1, b: 10.2.0.2, c: 10.2.0.3}
attributes: {timeout: 12, retry_cnt: %s}
qps: {a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}, a3: {hca: a, peer: c3}, c3: {hca: c, peer: a3}}
taps: [middle]
work:
  - {qp: b2, op: read, length: 1024, at: 5ms}
`
	const (
		other = "  - {qp: c3, op: write, length: 1024, repeat: 100, every: 10ms}\n"
		told  = "unanswered (likely): 10.2.0.2 QP 0xa32 sent an RDMA READ of 1,024 bytes 8 times in "
		lost  = "10.2.0.1 QP 0x9bc answered each time, and the answers passed the tap, but were lost after it or not taken."
		gave  = "gave up: no further retransmission in "
		drop  = "errors: [{do: drop, from: a, to: b, nth: 1, count: "
	)
	retries := func(n string) string { return strings.Replace(head, "%s", n, 1) }
	if got := reasons(t, retries("7")+other+drop+"all, where: after}]\n"); !strings.Contains(got, told) || !strings.Contains(got, lost) || !strings.Contains(got, gave) || strings.Contains(got, "\nloss") {
		t.Error(got)
	}
	if got := reasons(t, retries("4")+other+drop+"4, where: after}]\n"); strings.Contains(got, lost) {
		t.Error(got)
	}
}
