package report

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/timing"
	"ibwitness/wqe"
)

// TestOneTurn: of two ends that take turns, one of which sends long messages each soon after a short one of the other, it is told how long that takes; not where the messages of both are as long, both take as long, ACKs
// take as long, or several come at a time.
func TestOneTurn(t *testing.T) {
	const us, ms = time.Microsecond, time.Millisecond
	const said = "CLEAN nothing violated, but 10.0.0.1 QP 0x20 sent one RDMA WRITE at a time"
	const told = "One at a time: 10.0.0.1 QP 0x20 sent one RDMA WRITE of 32.0 KiB at a time to 10.0.0.2, each 3µs after a message of 64 B of 10.0.0.2 QP 0x20, which came 5ms after the WRITE before it " +
		"(on average of 200; at most 8ms, frame 9), though ACKs come 4µs after a WRITE: 10.0.0.2 had the turn for 99 % of the time. That makes "
	const next = "next what the program on 10.0.0.2 does between them (CPU, copies, what it waits for), and whether it can ask for several at once"
	usual := func() agent.Connection {
		c := singleScene(200, 8, 5*ms, ms)
		c.Ends[0].Messages, c.Ends[1].Messages = 200, 200
		c.Timing.Ends[1].Ops[wqe.Write] = &timing.Operation{Count: 200, Bytes: 200 * 64}
		c.Timing.Ends[0].Turns = timing.Turns{Count: 200, Usual: 200 * 3 * us, Most: 4 * us}
		c.Timing.Ends[1].Turns = timing.Turns{Count: 200, Usual: 200 * 5 * ms, Most: 8 * ms, Frame: 9}
		return c
	}
	for _, k := range []struct {
		name   string
		change func(c *agent.Connection)
		want   bool
	}{
		{"one at a time", func(*agent.Connection) {}, true},
		{"as long", func(c *agent.Connection) { c.Timing.Ends[1].Ops[wqe.Write].Bytes = 200 << 15 }, false},
		{"both take long", func(c *agent.Connection) { c.Timing.Ends[0].Turns.Usual = 200 * ms }, false},
		{"late ACKs", func(c *agent.Connection) {
			for i := range c.Timing.Ends[0].Acks.List {
				c.Timing.Ends[0].Acks.List[i].Took = ms
			}
		}, false},
		{"several at a time", func(c *agent.Connection) { c.Ends[0].Messages = 400 }, false},
		{"READs, too", func(c *agent.Connection) { c.Timing.Ends[1].Ops[wqe.Read] = &timing.Operation{Count: 9} }, false},
	} {
		c := usual()
		k.change(&c)
		got := reported(t, c)
		if strings.Contains(got, told) != k.want || strings.Contains(got, next) != k.want || strings.Contains(got, said) != k.want {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}
