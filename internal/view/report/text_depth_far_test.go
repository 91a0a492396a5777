package report

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/timing"
	"ibwitness/wqe"
)

// TestSteadyReads: of an end with one READ outstanding at a time, which a tap at the responder sees follow the answer to the one before always as late, it is
// told that the way or the work there takes so long, and not the responder; not where READs are sent at regular times, where they follow now sooner and now
// later, or where they follow so late that a program waits for something else.
func TestSteadyReads(t *testing.T) {
	const us = time.Microsecond
	for _, k := range []struct {
		name        string
		after, vary time.Duration
		regular     bool
		want        bool
	}{
		{"always as late", 190 * us, 0, false, true},
		{"at regular times", 190 * us, 0, true, false},
		{"now sooner, now later", 190 * us, 40 * us, false, false},
		{"late", 20 * time.Millisecond, 0, false, false},
	} {
		c, at := oneAtATime(200*us, 300), int64(1)
		e := &c.Timing.Ends[0]
		e.Asks = nil
		o := &timing.Operation{Sizes: timing.Sizes{Least: 2048, Most: 2048}}
		for n := range 300 {
			took := 6*us + time.Duration(n%7)*us/2
			e.Asks = append(e.Asks, timing.Sent{Begin: at, End: at + int64(took), Bytes: 2048})
			o.Count, o.Bytes = o.Count+1, o.Bytes+2048
			o.Observe(took)
			if at += int64(took + k.after + time.Duration(n%5)*k.vary/4); k.regular {
				at = 1 + int64(n+1)*int64(k.after+10*us)
			}
		}
		e.Ops[wqe.Read], e.Reads = o, 1
		c.First, c.Ends[0].Last, c.Ends[1].Last = 1, at, at
		got := reportOf(t, &agent.Result{RDMA: 6, Packets: 6, First: 1, Last: at, Connections: []agent.Connection{c}})
		const want = "READ depth: 10.0.0.1 QP 0x20 has one RDMA READ outstanding at a time (its max_rd_atomic, or what its program posts): each comes 190µs after the answer to the one before it."
		const steady = "Nine of ten follow within 1ns of one another, and not at regular times: it is the way from the tap to 10.0.0.1 and back that takes so long"
		if told := strings.Contains(got, want) && strings.Contains(got, steady); told != k.want || strings.Contains(got, "READ depth") != k.want {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}
