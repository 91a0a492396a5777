package incident

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// TestWhenNamed: of connections that are told as one it is said when the request began that is named, where that is not the first of them.
func TestWhenNamed(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	lost := func(qpn uint32, since, closed int64) agent.Connection {
		c := agent.Connection{Service: packet.RC, PairedBy: agent.ByCM, First: at(1), FirstFrame: uint64(qpn)}
		for k := range c.Ends {
			c.Ends[k] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(k + 1)}), QPN: qpn, QPNKnown: true, Packets: 900, Messages: 400, Last: at(since)}
		}
		stall := qp.Stall{Request: qp.StalledRequest{Frame: uint64(since)}, Since: at(since), Begun: at(since + 100), Last: at(since + 700), Packets: 7}
		stall.Rounds[qp.TimerExpired] = 7
		c.Ends[0].Trouble, c.Ends[0].Stalled = &qp.Trouble{Now: stall}, true
		c.Closed = agent.Closed{By: c.Ends[0].Addr, At: at(closed), Frame: uint64(closed)}
		return c
	}
	const said = ", which began 200ms after the first of all that is told here, at +2.200 s"
	for _, k := range []struct {
		name   string
		closed int64 // of the second
		want   bool
	}{{"the second lost the most time", 9000, true}, {"none lost much more", 3100, false}} {
		list := Of(&agent.Result{RDMA: 8000, Packets: 8000, First: at(0), Last: at(20000), Connections: []agent.Connection{lost(0x11, 2000, 3000), lost(0x12, 2200, k.closed)}})
		if len(list) != 1 || list[0].Connections != 2 {
			t.Fatalf("%s: %+v", k.name, list)
		}
		for _, f := range list[0].Facts {
			if f.Label == "request" && strings.HasSuffix(f.Text, said) != k.want {
				t.Errorf("%s: %+v", k.name, list[0])
			}
		}
	}
}
