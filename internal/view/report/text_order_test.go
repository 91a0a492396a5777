package report

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/wqe"
)

// TestOrder: where many frames are stamped before one that comes before them, that is told, and nothing of how long messages took; where few are, it is not.
func TestOrder(t *testing.T) {
	run := func(n, packets uint64) *agent.Result {
		c := busy(wqe.Write, 100, 1)
		c.Ends[0].QPN, c.Ends[1].QPN = 0x20, 0x21
		r := &agent.Result{RDMA: packets, Packets: packets, Connections: []agent.Connection{c}}
		r.Disorder = agent.Disorder{Count: n, Most: 330 * time.Microsecond, Frame: 39}
		return r
	}
	const want = "Order: 208 of 2,000 frames are stamped before one that the capture has before them, by up to 330µs, first frame 39"
	if got := reportOf(t, run(208, 2000)); !strings.Contains(got, want) || strings.Contains(got, "the slowest took") || strings.Contains(got, "waited longer") {
		t.Error(got)
	}
	for _, k := range [][2]uint64{{15, 2000}, {208, 2000000}} {
		if got := reportOf(t, run(k[0], k[1])); strings.Contains(got, "Order: ") || !strings.Contains(got, "the slowest took") {
			t.Errorf("%d of %d: %s", k[0], k[1], got)
		}
	}
}
