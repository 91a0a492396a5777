package incident

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// TestEarlierKey: an access that is refused has an R_Key of an earlier connection of the same hosts, where it was accepted there; not where that connection goes on, is of others, or the R_Key
// was accepted after this one began.
func TestEarlierKey(t *testing.T) {
	const s = int64(time.Second)
	addr := func(n int) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, byte(n)}) }
	connection := func(client int, qpn uint32, first, last int64, frame uint64) agent.Connection {
		c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: first, FirstFrame: frame}
		for e := range c.Ends {
			c.Ends[e] = agent.End{Addr: addr([2]int{client, 9}[e]), QPN: [2]uint32{qpn + 100, qpn}[e], QPNKnown: true, Packets: 100, Messages: 100, Last: last}
		}
		return c
	}
	for _, k := range []struct {
		name   string
		client int
		last   int64  // of the earlier connection
		newest uint64 // frame of the newest with that R_Key
		want   bool
	}{
		{"earlier", 1, 5 * s, 500, true},
		{"goes on", 1, 15 * s, 500, false},
		{"of another host", 2, 5 * s, 500, false},
		{"accepted later", 1, 5 * s, 1200, false},
	} {
		r := &agent.Result{First: 1, Last: 20 * s, RDMA: 1, Connections: []agent.Connection{connection(k.client, 0x12, 1, k.last, 1), connection(1, 0x20, 10*s, 11*s, 1000)}}
		r.Findings = []rule.Finding{{Rule: rule.EvDisconnect, Class: rule.Event, Time: 5 * s, Frame: 600, Accused: rule.Endpoint{Addr: addr(9)}, Peer: rule.Endpoint{Addr: addr(1)}}}
		r.Connections[1].Ends[0].Trouble = &qp.Trouble{Refusal: qp.Refusal{
			Code: packet.NAKRemoteAccess, Time: 11 * s, Frame: 1101,
			Request: qp.StalledRequest{Op: wqe.Read, Frame: 1100, VA: 0x1000, RKey: 0x77, Length: 4096},
			Beside:  qp.Beside{Earlier: &qp.EarlierRange{AcceptedRange: qp.AcceptedRange{Low: 0x1000, High: 0x9000, LowAt: 20, HighAt: 30, Newest: k.newest}, QPN: 0x12}},
		}}
		list := Of(r)
		if len(list) == 0 || list[0].Kind != Refused {
			t.Fatalf("%s: %+v", k.name, list)
		}
		i := &list[0]
		if got := strings.HasSuffix(i.What, "Its R_Key 0x77 is of an earlier connection of the same hosts, which was over by then."); got != k.want || strings.HasPrefix(i.FitsWith[0], "a program on 10.0.0.1 that keeps") != k.want {
			t.Errorf("%s: %s %q", k.name, i.What, i.FitsWith)
		}
	}
}
