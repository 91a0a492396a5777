package incident_test

import (
	"slices"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/incident"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// TestHarmlessLast: congestion whose marks nobody answers comes before what was lost on its way, and that before congestion that receivers answered and for which nothing was lost, though that began first; where something was lost, too,
// the one that began first comes first. How much was retransmitted is told with it.
func TestHarmlessLast(t *testing.T) {
	const ms = int64(time.Millisecond)
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	for _, lost := range []bool{false, true} {
		r := &agent.Result{First: second(1), Last: second(2), RDMA: 1}
		for n, to := range []packet.Addr{host(8), host(9)} {
			c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: second(1), FirstFrame: uint64(n + 1)}
			c.Ends[0] = agent.End{Addr: host(byte(n + 1)), QPN: 16, QPNKnown: true, Packets: 1000, Messages: 1000, Last: second(2)}
			c.Ends[1] = agent.End{Addr: to, QPN: 17, QPNKnown: true, Packets: 1000, Last: second(2)}
			if n == 1 || lost {
				c.Ends[0].Retransmissions = 40
			}
			begun := second(1) + int64(n)*10*ms
			if n == 1 {
				c.Ends[0].Trouble = &qp.Trouble{Sum: qp.Stalls{Count: 9, Rounds: [qp.NumCauses]uint32{0, 9}, Lost: ms, Begun: begun, Last: begun + ms}, Again: qp.Sums{Packets: 40}}
			}
			r.Connections = append(r.Connections, c)
			for k := range int64(100) {
				marked := rule.Finding{Rule: rule.EvCE, Class: rule.Event, Time: begun + k, Frame: uint64(1000*n) + uint64(k) + 10, Accused: rule.Endpoint{Addr: c.Ends[0].Addr}, Peer: rule.Endpoint{Addr: to}}
				if r.Findings = append(r.Findings, marked); n == 0 {
					marked.Rule, marked.Accused, marked.Peer = rule.EvCNP, marked.Peer, marked.Accused
					r.Findings = append(r.Findings, marked)
				}
			}
		}
		type told struct {
			kind incident.Kind
			to   packet.Addr
		}
		var got []told
		for _, i := range incident.Of(r) {
			got = append(got, told{i.Kind, i.Peer.Addr})
			if cost := slices.Contains(i.Facts, incident.Fact{Label: "cost", Text: "40 of 1,000 packets from " + i.Local.Addr.String() + " to " + i.Peer.Addr.String() + " were retransmitted (4 %)"}); cost != (i.Kind == incident.Congestion && (lost || i.Peer.Addr == host(9))) {
				t.Errorf("lost %v: %+v", lost, i)
			}
		}
		want := []told{{incident.Congestion, host(9)}, {incident.Loss, host(9)}, {incident.Congestion, host(8)}}
		if lost {
			want = []told{{incident.Congestion, host(8)}, {incident.Congestion, host(9)}, {incident.Loss, host(9)}}
		}
		if !slices.Equal(got, want) {
			t.Errorf("lost %v: %v", lost, got)
		}
	}
}
