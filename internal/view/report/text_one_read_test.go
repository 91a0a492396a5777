package report

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/timing"
	"ibwitness/wqe"
)

// TestMoreBesides: of an end with one READ outstanding at a time it is told which other queue pair of the same two hosts has more at about the same round trip, and is
// faster; not a queue pair of another host, one that is answered sooner or later, or one that is no faster.
func TestMoreBesides(t *testing.T) {
	const us = time.Microsecond
	deep := func(host byte, loop time.Duration) agent.Connection {
		c := even(host, 8, loop)
		o := &timing.Operation{Count: 300, Bytes: 300 * 4096}
		for range 300 {
			o.Observe(loop)
		}
		c.Ends[0].QPN, c.Timing.Ends[0].Ops[wqe.Read] = 0xb7, o
		return c
	}
	slow := deep(1, 500*us)
	for i := range slow.Timing.Ends[0].Asks {
		slow.Timing.Ends[0].Asks[i].Bytes = 256
	}
	for _, k := range []struct {
		name  string
		other agent.Connection
		told  bool
	}{
		{"more at a time", deep(1, 500*us), true},
		{"of another host", deep(3, 500*us), false},
		{"far away", deep(1, 2000*us), false},
		{"near", deep(1, 200*us), false},
		{"no faster", slow, false},
	} {
		c, other := oneAtATime(500*us, 300), k.other
		c.Ends[1].Addr = other.Ends[1].Addr
		got := reportOf(t, &agent.Result{RDMA: 6, Packets: 6, Connections: []agent.Connection{c, other}})
		const want = "10.0.0.1 QP 0x20 had one RDMA READ outstanding at a time, 500µs each until its answer: 65.5 Mbit/s (max_rd_atomic, or a program that waits for each?)."
		const more = want + " 10.0.0.1 QP 0xb7, with up to 8 outstanding to 10.0.0.99 at about the same round trip, gets 5"
		if !strings.Contains(got, want) || strings.Contains(got, more) != k.told || strings.Contains(got, "gets") != k.told {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}
