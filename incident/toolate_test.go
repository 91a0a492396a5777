package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
)

// TestTooLate: a requester whose answer comes after its retries were used up, and that is silent since, is told, before what nothing answers at it
// any more; not one that goes on, nor one
// whose answer came before it would have retransmitted once more.
func TestTooLate(t *testing.T) {
	const scene = `
about: answers that are held up
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {timeout: 8, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
taps: [middle]
work:
  - {qp: a1, op: write, length: 1000, repeat: 5, every: 1ms}
  - {qp: b1, op: write, length: 100, at: 100us}
`
	const (
		asked = "  - {qp: b1, op: write, length: 100, at: 100ms}\n"
		long  = "errors: [{do: delay, from: b, to: a, op: ack, nth: 5, count: 9, delay: 40ms}]\n"
		just  = "errors: [{do: delay, from: b, to: a, op: ack, nth: 5, count: 9, delay: 13ms}]\n"
		short = "errors: [{do: delay, from: b, to: a, op: ack, nth: 5, delay: 3ms}]\n"
		told  = "unanswered (likely): 10.1.0.1 QP 0x9bc sent an RDMA WRITE of 1,000 bytes 8 times in "
		then  = "unanswered (proven): 10.1.0.2 QP 0xa32 sent an RDMA WRITE of 100 bytes 8 times"
	)
	for name, tt := range map[string]struct {
		text        string
		want, asked bool
	}{
		"used up": {asked + long, true, true}, "it goes on": {asked + short, false, false}, "nothing was asked": {long, true, false}, "the last retry may still wait": {just, false, false},
	} {
		got := happened(t, frames(t, scene+tt.text), agent.Options{})
		first, later := strings.Index(got, told), strings.Index(got, then)
		if tt.want != (first >= 0) || tt.asked != (tt.want && later > first) || tt.want && !strings.Contains(got, "timer: it first retransmitted after 1.63ms, and the answer took 40ms") {
			t.Errorf("%s: %s", name, got)
		}
	}
}
