package incident

import (
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/timing"
	"ibwitness/wqe"
)

// TestWritesGoOn: of a host that has no receive it is told that it acknowledges WRITEs on another connection since; not where it did only before, where it sent messages itself or others came there,
// nor of another host that has no receive.
func TestWritesGoOn(t *testing.T) {
	const s = int64(time.Second)
	const told = "10.0.0.2 went on to acknowledge RDMA WRITEs, which take no receive, on 1 other connection between the same hosts, the last 5s after it first refused this: its adapter and the path work"
	const others = "10.0.0.2 went on to acknowledge RDMA WRITEs, which take no receive, of 10.0.0.3, the last 5s after it first refused this: its adapter works"
	for _, k := range []struct {
		name string
		set  func(d *agent.Connection)
		want string
	}{
		{"since", func(*agent.Connection) {}, told},
		{"only before", func(d *agent.Connection) { d.Ends[1].Last = 2 * s }, ""},
		{"its own messages", func(d *agent.Connection) { d.Ends[1].Messages = 1 }, ""},
		{"SENDs, too", func(d *agent.Connection) { d.Timing.Ends[0].Ops[wqe.Send] = &timing.Operation{} }, ""},
		{"to another host", func(d *agent.Connection) { d.Ends[1].Addr = packet.IPv4Addr([]byte{10, 0, 0, 3}) }, ""},
		{"of another host", func(d *agent.Connection) { d.Ends[0].Addr = packet.IPv4Addr([]byte{10, 0, 0, 3}) }, others},
		{"refused, too", func(d *agent.Connection) { d.Ends[0].Trouble = new(qp.Trouble) }, ""},
	} {
		r := &agent.Result{First: 1, Last: 10 * s, RDMA: 1, Connections: make([]agent.Connection, 2)}
		for n := range r.Connections {
			c := &r.Connections[n]
			c.Service, c.Timing = packet.RC, &timing.Connection{}
			for e := range c.Ends {
				c.Ends[e] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(e + 1)}), QPN: uint32(16 + n), QPNKnown: true, Packets: 9, Last: 8 * s}
			}
		}
		r.Connections[1].Timing.Ends[0].Ops[wqe.Write] = &timing.Operation{}
		k.set(&r.Connections[1])
		if got := (&teller{run: r}).writesGoOn(&r.Connections[0], 0, &qp.Stall{Begun: 3 * s}); got != k.want {
			t.Errorf("%s: %q", k.name, got)
		}
	}
}
