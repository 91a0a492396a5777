package incident_test

import (
	"strings"
	"testing"

	"ibwitness/fabricagent"
)

// TestMidway: where the capture may have begun when the peer was gone already, it is not told that it never sent anything, nor with how many retries a requester gave up; where the capture holds
// longer of other connections before, it is.
func TestMidway(t *testing.T) {
	const scene = `
about: a queue pair that is gone
hcas: {a: 10.2.0.1, b: 10.2.0.2, c: 10.2.0.3}
attributes: {timeout: 12, retry_cnt: 5}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: c1}, c1: {hca: c, peer: a2}}
work:
  - {qp: a1, op: write, length: 64, at: 2s}
  - {qp: a2, op: write, length: 64, repeat: 100, every: 50ms}
taps: [middle]
errors: [{do: drop, from: a, to: b, nth: 1, count: all, where: after}]
`
	const (
		never, exact = "10.2.0.1 sent an RDMA WRITE of 64 bytes 6 times in ", "10.2.0.2 QP 0xa32 has never sent anything on this connection."
		least        = "10.2.0.1 sent an RDMA WRITE of 64 bytes at least 4 times in "
		nothing      = "; the capture holds nothing of 10.2.0.2 QP 0xa32 on this connection."
		gone         = "a queue pair of 10.2.0.2, its process or its host that is gone since, if the connection had worked before the capture began"
		count        = "as with a retry_cnt of "
	)
	whole := frames(t, scene)
	got := toldReasons(t, whole)
	if !strings.Contains(got, never) || !strings.Contains(got, exact) || !strings.Contains(got, count+"5, ") || strings.Contains(got, gone) {
		t.Error(got)
	}
	var part []fabricagent.Frame
	for n := range whole { // the third time that it is sent
		if at := whole[n].Time - whole[0].Time; at > second(2)-second(0)+40e6 {
			part = whole[n:]
			break
		}
	}
	if got := toldReasons(t, part); !strings.Contains(got, least) || !strings.Contains(got, nothing) || strings.Contains(got, count) || !strings.Contains(got, "after at least 3 retries: it seems that they are used up, which") || !strings.Contains(got, gone) ||
		!strings.Contains(got, "waits: at least ") {
		t.Error(got)
	}
}
