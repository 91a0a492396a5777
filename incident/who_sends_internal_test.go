package incident

import (
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// TestWhoSends: hosts are named that go on sending to a requester whose peer is silent; not one that stopped soon after, that retransmits in vain, or sends to another.
func TestWhoSends(t *testing.T) {
	const s = int64(time.Second)
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	for _, k := range []struct {
		name string
		set  func(d *agent.Connection)
		want string
	}{
		{"both", func(*agent.Connection) {}, "10.0.0.3 and 10.0.0.4 "},
		{"one stopped", func(d *agent.Connection) { d.Ends[1].Last = 3 * s }, "10.0.0.3 "},
		{"one retransmits", func(d *agent.Connection) {
			d.Ends[1].Stalled, d.Ends[1].Trouble = true, &qp.Trouble{Now: qp.Stall{Since: 1}}
		}, "10.0.0.3 "},
		{"to another", func(d *agent.Connection) { d.Ends[0].Addr = host(9) }, "10.0.0.3 "},
		{"the peer itself", func(d *agent.Connection) { d.Ends[1].Addr = host(2) }, "10.0.0.3 "},
	} {
		r := &agent.Result{First: 1, Last: 10 * s, RDMA: 1, Connections: make([]agent.Connection, 3)}
		for n := range r.Connections {
			r.Connections[n].Ends = [2]agent.End{{Addr: host(1), Last: 9 * s}, {Addr: host(byte(n + 2)), Last: 9 * s}}
		}
		k.set(&r.Connections[2])
		i := Incident{Local: Party{Addr: host(1)}, Peer: Party{Addr: host(2)}}
		r.Connections[0].Ends[1].Last = 1
		if got := (&teller{run: r}).whoSends(&i, &qp.Stall{Begun: 2 * s, Last: 9 * s}, 9*s); got != k.want {
			t.Errorf("%s: %q", k.name, got)
		}
	}
}
