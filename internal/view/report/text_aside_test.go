package report

import (
	"bufio"
	"bytes"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/timing"
	"ibwitness/wqe"
)

// TestLastAside: who begins late is told where heartbeats go on meanwhile, too, and that these are left out; not where nobody is late.
func TestLastAside(t *testing.T) {
	const told = "Messages on 1 connection that carries little beside the others (as heartbeats) begin no round here."
	for _, late := range []bool{true, false} {
		r := &agent.Result{RDMA: 1, Packets: 1, First: 1}
		add := func(a, b byte, bytes uint64) *agent.Connection {
			c := agent.Connection{Service: packet.RC, First: 1, Timing: timing.New(nil)}
			for n := range c.Ends {
				e := &c.Ends[n]
				e.Addr, e.Messages, e.Bytes = packet.IPv4Addr([]byte{10, 0, 0, []byte{a, b}[n]}), 20, 20*bytes
				c.Timing.Ends[n].Ops[wqe.Write] = new(timing.Operation)
				c.Timing.Ends[n].Ops[wqe.Write].Observe(5 * time.Microsecond)
			}
			r.Connections = append(r.Connections, c)
			return &r.Connections[len(r.Connections)-1]
		}
		ms := int64(time.Millisecond)
		for h := range byte(4) {
			c := add(h, (h+1)%4, 1<<17)
			c.Ends[1].Bytes = 0
			for round := range int64(20) {
				at := 1 + round*20*ms
				if late && h == 2 {
					at += 8 * ms
				}
				c.Timing.Ends[0].NoteSent(timing.Sent{Begin: at, End: at + 20_000})
				r.Last = at + 20_000
			}
		}
		beats := add(0, 2, 64)
		for round := range int64(20) {
			for n := range beats.Ends {
				at := 1 + round*20*ms + 2*ms + int64(n)*2000
				beats.Timing.Ends[n].NoteSent(timing.Sent{Begin: at, End: at + 100})
			}
		}
		var b bytes.Buffer
		x := &text{Options: Options{Width: 2000}, out: bufio.NewWriter(&b), res: r}
		x.waits()
		if err := x.out.Flush(); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(strings.Fields(b.String()), " "); strings.Contains(got, told) != late || strings.Contains(got, "all wait for 10.0.0.2, the straggler.") != late {
			t.Errorf("late %v: %s", late, got)
		}
	}
}
