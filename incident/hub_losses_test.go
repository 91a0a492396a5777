package incident

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// TestCommonLosses: where connections of one host with several others lost packets, and those without it did not, that is told once; not where another of its connections, or one without it,
// shows that it is not that host, or too little was sent to tell.
func TestCommonLosses(t *testing.T) {
	type sent struct {
		a, b    byte
		rounds  uint32
		packets uint64
	}
	for _, k := range []struct {
		name string
		list []sent
		want string
	}{
		{"one host", []sent{{1, 2, 4, 1000}, {3, 1, 4, 1000}, {2, 3, 0, 2000}}, "connections of 10.0.0.1 with 2 hosts had to retransmit (with 10.0.0.2 and 10.0.0.3); those without it, with 4,000 packets in all, had to retransmit nothing"},
		{"a tap at it", []sent{{1, 2, 4, 1000}, {3, 1, 4, 1000}}, "connections of 10.0.0.1 with 2 hosts had to retransmit (with 10.0.0.2 and 10.0.0.3); all connections of the capture have that host in common"},
		{"a tap at it, and several that lost nothing", []sent{{1, 2, 8, 1000}, {3, 1, 3, 1000}, {4, 1, 4, 1000}, {5, 1, 0, 1000}, {6, 1, 0, 1000}}, "connections of 10.0.0.1 with 3 hosts had to retransmit (with 10.0.0.2, 10.0.0.3 and 10.0.0.4); those with others, with 4,000 packets, nothing: it is not what all of these pass, as the link and port of 10.0.0.1"},
		{"hardly anything beside", []sent{{1, 2, 4, 1000}, {3, 1, 4, 1000}, {2, 3, 0, 100}}, ""},
		{"others too", []sent{{1, 2, 4, 1000}, {3, 1, 4, 1000}, {2, 3, 1, 2000}}, ""},
		{"not with one", []sent{{1, 2, 4, 1000}, {3, 1, 4, 1000}, {4, 1, 0, 3000}, {2, 3, 0, 2000}}, ""},
		{"one other", []sent{{1, 2, 8, 1000}, {3, 4, 0, 2000}}, ""},
		{"too few", []sent{{1, 2, 4, 1000}, {3, 1, 2, 1000}, {2, 3, 0, 2000}}, ""},
	} {
		r := &agent.Result{First: 1, Last: int64(time.Second), RDMA: 1}
		for n, s := range k.list {
			c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1}
			c.Ends[0] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, s.a}), QPN: uint32(n + 16), QPNKnown: true, Packets: s.packets, Messages: s.packets, Last: int64(time.Second)}
			c.Ends[1] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, s.b}), QPN: uint32(n + 32), QPNKnown: true, Packets: s.packets, Last: int64(time.Second)}
			if s.rounds > 0 {
				c.Ends[0].Trouble = &qp.Trouble{Sum: qp.Stalls{Count: 1, Rounds: [qp.NumCauses]uint32{s.rounds}, Begun: 5, Last: 9}}
			}
			r.Connections = append(r.Connections, c)
		}
		got := ""
		for _, i := range Of(r) {
			for _, f := range i.Facts {
				if f.Label == "hosts" {
					got += f.Text
				}
			}
			if told := strings.Contains(strings.Join(i.FitsWith, ""), "the link, adapter or switch port of 10.0.0.1: it is what"); told && (k.want == "" || strings.Contains(k.want, "; those with others")) {
				t.Errorf("%s: %+v", k.name, i)
			}
		}
		if got != k.want {
			t.Errorf("%s: %q", k.name, got)
		}
	}
}
