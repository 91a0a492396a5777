package report

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/timing"
	"ibwitness/wqe"
)

// TestIdleTurn: where the tap sees no request wait most of the time, it is told which end posts late, which answers, or for what part of the time it was the turn of each; not of a connection of which it is not
// known, or whose program is told to be slow.
func TestIdleTurn(t *testing.T) {
	const ms = time.Millisecond
	in := func(d time.Duration) func(int) time.Duration { return func(int) time.Duration { return d } }
	slow := func(i int) time.Duration { return []time.Duration{ms, 300 * ms}[i%100/99] }
	for _, k := range []struct {
		name   string
		of     exchange
		change func(c *agent.Connection)
		want   string
	}{
		{"posts late", exchange{depth: 1, n: 400, took: in(ms / 50), late: 3 * ms}, nil, "10.0.0.1 QP 0x20 posts late, or has no more to send: for 99 % of the time nothing that it had sent waited for the program of 10.0.0.2, unless it is far from the tap."},
		{"answers late", exchange{depth: 4, n: 400, took: in(3 * ms)}, nil, "The program of 10.0.0.2 QP 0x21 sets the pace: for 100 % of the time something that 10.0.0.1 had sent waited for it, unless it is far from the tap."},
		{"near", exchange{depth: 4, n: 400, took: in(3 * ms)}, func(c *agent.Connection) { c.Ends[1].Near = true }, "had sent waited for it."},
		{
			"in turn",
			exchange{depth: 1, n: 400, took: in(ms), late: 3 * ms},
			nil,
			"10.0.0.1 QP 0x20 and 10.0.0.2 QP 0x21 limit it in turn: for 75 % of the time nothing that the first had sent waited, and for 24 % the program of the second had something to answer.",
		},
		{"slow", exchange{depth: 1, n: 400, took: slow, late: 3 * ms}, nil, ""},
		{"over", exchange{depth: 1, n: 400, took: in(ms / 50), late: 3 * ms}, func(c *agent.Connection) { c.Closed.At = c.Ends[0].Last }, ""},
	} {
		c := k.of.connection(1, 2)
		if k.change != nil {
			k.change(&c)
		}
		r := after(c)
		r.Last = c.Ends[0].Last
		if got := reportOf(t, r); k.want == "" && strings.Contains(got, "Idle") || !strings.Contains(got, k.want) {
			t.Errorf("%s: %s", k.name, got)
		}
	}
	one := busy(wqe.Write, 300, 0)
	one.Ends[1].Messages = 0
	if got := reported(t, one); !strings.Contains(got, "10.0.0.1 QP 0x20 posts late, or has no more to send: for 99 % of the time it had nothing outstanding, unless it is far from the tap.") || strings.Contains(got, "either end may limit") {
		t.Error(got)
	}
	if got := reportOf(t, &agent.Result{RDMA: 6, Packets: 6, Connections: []agent.Connection{one, one, one, one}}); !strings.Contains(got, " and 1 more end. 10.0.0.1 on 4 connections posts late, or has no more to send: for 99 % of the time or more nothing that it had sent there waited, unless") {
		t.Error(got)
	}
	other := one
	other.Ends[0].Addr = packet.IPv4Addr([]byte{10, 0, 0, 7})
	if got := reportOf(t, &agent.Result{RDMA: 6, Packets: 6, Connections: []agent.Connection{one, other, one}}); !strings.Contains(got, "10.0.0.1 on 2 connections and 10.0.0.7 QP 0x20 post late, or have no more to send: for 99 % of the time or more nothing that each had sent waited, unless they are far from the tap.") {
		t.Error(got)
	}
	little, much := one, other
	little.Ends[0].Bytes, much.Ends[0].Bytes = 1<<10, 1<<20
	if got := reportOf(t, &agent.Result{RDMA: 6, Packets: 6, Connections: []agent.Connection{little, much}}); !strings.Contains(got, "10.0.0.7 QP 0x20 posts late") || strings.Contains(got, "10.0.0.1 QP 0x20 posts late") {
		t.Error(got)
	}
	nvme := busy(wqe.Send, 300, 0)
	nvme.Upper = &agent.Upper{Protocol: "NVMe over RDMA", Answered: true, Answers: 300, Took: 30 * ms, Slowest: &agent.Operation{Since: 1, Ended: 1 + int64(ms)}}
	for range 300 {
		nvme.Timing.Command(100*time.Microsecond, nvme.First, 1)
	}
	if got := reported(t, nvme); !strings.Contains(got, "10.0.0.1 QP 0x20 posts late, or has no more to send: for 97 % of the time or more no command of it waited (NVMe over RDMA), unless") {
		t.Error(got)
	}
	turns := busy(wqe.Send, 300, 0)
	for k := range turns.Ends {
		turns.Ends[k].Messages = 300
		turns.Timing.Ends[k].Turns = timing.Turns{Count: 300, Usual: time.Duration(1+3*k) * ms}
	}
	if got := reported(t, turns); !strings.Contains(got, "10.0.0.1 QP 0x20 and 10.0.0.2 take turns: the first had the turn for 20 % of the time, and the second for 80 %.") {
		t.Error(got)
	}
	both := busy(wqe.Write, 300, 0)
	both.Ends[0].Addr = packet.IPv4Addr([]byte{10, 0, 0, 7})
	if got := reported(t, both); strings.Contains(got, "posts late") || !strings.Contains(got, "(99 %): a program of either end may limit the pace there") {
		t.Error(got)
	}
}
