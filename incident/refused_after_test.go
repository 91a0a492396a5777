package incident

import (
	"slices"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// TestReconnectedAfter: after how long the hosts of a connection that a NAK has ended had another is told, and that they had none until then where all others were disconnected; not where the next one is none of CM.
func TestReconnectedAfter(t *testing.T) {
	const s = int64(time.Second)
	connection := func(qpn uint32, first int64) agent.Connection {
		c := agent.Connection{Service: packet.RC, First: first, FirstFrame: 90, PairedBy: agent.ByCM}
		for e := range c.Ends {
			c.Ends[e] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(e + 1)}), QPN: qpn, QPNKnown: true, Packets: 10, Last: first + s/2}
		}
		return c
	}
	for _, k := range []struct {
		name string
		set  func(other, next *agent.Connection)
		want string
	}{
		{"they had none", func(other, _ *agent.Connection) { other.Closed.At = 3 * s }, "reconnected by 10.0.0.1 (REQ) 3s after the NAK, in frame 90; 1 other connection between the hosts had been disconnected, too: they had none until then"},
		{"the other was over before", func(other, _ *agent.Connection) { other.Closed.At = s }, "reconnected by 10.0.0.1 (REQ) 3s after the NAK, in frame 90: they had none until then"},
		{"the other goes on", func(*agent.Connection, *agent.Connection) {}, "reconnected by 10.0.0.1 (REQ) 3s after the NAK, in frame 90"},
		{"none of CM", func(other, next *agent.Connection) { other.Closed.At, next.PairedBy = 3*s, agent.ByPSN }, ""},
		{"none", func(other, next *agent.Connection) { other.Closed.At, next.First = 3*s, 2*s-1 }, ""},
	} {
		c, other, next := connection(0x20, 1), connection(0x21, 2), connection(0x22, 5*s)
		c.Ends[0].Trouble = &qp.Trouble{Refusal: qp.Refusal{Code: packet.NAKRemoteAccess, Time: 2 * s, Frame: 8, Request: qp.StalledRequest{Op: wqe.Write, Length: 4096, RKey: 5}}}
		k.set(&other, &next)
		list := Of(&agent.Result{RDMA: 20, First: 1, Last: 9 * s, Connections: []agent.Connection{c, other, next}})
		if len(list) != 1 || list[0].Kind != Refused {
			t.Fatalf("%s: %+v", k.name, list)
		}
		if slices.Contains(list[0].Facts, Fact{"then", k.want}) != (k.want != "") || k.want == "" && slices.ContainsFunc(list[0].Facts, func(f Fact) bool { return len(f.Text) > 11 && f.Text[:11] == "reconnected" }) {
			t.Errorf("%s: %q", k.name, list[0].Facts)
		}
	}
}
