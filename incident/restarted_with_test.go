package incident

import (
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/upper"
)

// TestRestartedWith: of a program that ended it is told which connections its peers disconnected with it, which commands had no answer then, and
// whether its host stayed up, as far as that shows.
func TestRestartedWith(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	connection := func(client byte, qpn uint32, first, last, closed int64, by byte) agent.Connection {
		c := agent.Connection{Service: packet.RC, First: at(first), FirstFrame: uint64(first), PairedBy: agent.ByCM}
		for e, n := range [2]byte{client, 9} {
			c.Ends[e] = agent.End{Addr: host(n), QPN: qpn + uint32(e)*0x100, QPNKnown: true, Packets: 9, Messages: 3, Last: at(last)}
		}
		if closed != 0 {
			c.Closed = agent.Closed{By: host(by), At: at(closed), Frame: uint64(closed)}
		}
		return c
	}
	hangs := func(c *agent.Connection, since int64, reads, writes int) {
		c.Upper = &agent.Upper{Protocol: "NVMe over RDMA", Answered: true}
		c.Upper.Oldest = &agent.Operation{Name: "NVMe Read", Since: at(since), Frame: uint64(since)}
		c.Upper.Open = reads + writes
		c.Upper.Classes = []agent.Class{{Name: "NVMe Write", Open: writes}, {Name: "NVMe Read", Open: reads}}
	}
	const (
		alone  = "10.0.0.9 disconnected 1 connection (DREQ); then it refused"
		with   = "10.0.0.9 disconnected 1 connection (DREQ), after which 10.0.0.1 disconnected 1 more; then it refused"
		lost   = "lost: 5 commands of 10.0.0.1 that it had acknowledged were not answered on these connections"
		kinds  = lost + " (4 NVMe Read and 1 NVMe Write); the first is in frame 1000, 1s before the first DREQ\n"
		counts = "host: it seems that 10.0.0.9 stayed up: the numbers of its queue pairs count on (0x113, and 0x111 to 0x112 before), " +
			"and it answered REQs (REJ) at +4.000 s\n"
		wentOn   = "host: 10.0.0.9 stayed up: its QP 0x120, which served 10.0.0.2 before, went on meanwhile\n"
		stayed   = "stayed up"
		rpcAgain = "; a client of RPC retransmits such on its next connection, with the same XID\n"
		oneLost  = "lost: 1 command of 10.0.0.1 that it had acknowledged was not answered on that connection: NVMe Read; it is in frame 1000"
	)
	for _, tt := range []struct {
		name      string
		set       func(r *agent.Result)
		want, not []string
	}{
		{"all of it", func(*agent.Result) {}, []string{with, kinds, counts}, []string{wentOn}},
		{"the client disconnected before", func(r *agent.Result) { r.Connections[1].Closed.At = at(1900) }, []string{alone}, []string{lost}},
		{"the client disconnected long after", func(r *agent.Result) {
			for n := range r.Findings {
				r.Findings[n].Time = at(9000)
			}
			r.Connections[1].Closed.At, r.Connections[2].First = at(8000), at(9500)
		}, []string{alone}, nil},
		{"one command", func(r *agent.Result) { hangs(&r.Connections[0], 1000, 1, 0); r.Connections[1].Upper = nil }, []string{with, oneLost}, nil},
		{"its request was not acknowledged", func(r *agent.Result) {
			r.Connections[0].Ends[0].Open = 1
		}, []string{"lost: 5 commands of 10.0.0.1 were not answered on these connections"}, nil},
		{"all were answered", func(r *agent.Result) {
			r.Connections[0].Upper, r.Connections[1].Upper = nil, nil
		}, []string{with, counts}, []string{"lost:"}},
		{"not all were followed", func(r *agent.Result) {
			r.Connections[0].Upper.GivenUp, r.Connections[1].Upper.Oldest.Unsure = 1, true
		}, []string{with}, []string{"lost:"}},
		{"of RPC", func(r *agent.Result) {
			r.Connections[0].Upper.Protocol, r.Connections[1].Upper.Protocol = rpcOverRDMA, rpcOverRDMA
		}, []string{"1s before the first DREQ" + rpcAgain}, nil},
		{"of RPC, retransmitted", func(r *agent.Result) {
			r.Connections[0].Upper.Protocol, r.Connections[1].Upper.Protocol = rpcOverRDMA, rpcOverRDMA
			r.Connections[0].Upper.OpenXIDs = []uint32{7, 8, 9}
			r.Connections[2].Upper = &agent.Upper{Protocol: rpcOverRDMA, First: []upper.FirstCall{{XID: 8, Frame: 5001}, {XID: 3, Frame: 5003}, {XID: 7, Frame: 5002}}}
		}, []string{"1s before the first DREQ; at least 2 of them were retransmitted on the next connection, with the same XIDs, from frame 5001 to 5002\n"}, []string{rpcAgain}},
		{"of RPC, retransmitted by another", func(r *agent.Result) {
			r.Connections[0].Upper.Protocol, r.Connections[1].Upper.Protocol = rpcOverRDMA, rpcOverRDMA
			r.Connections[0].Upper.OpenXIDs = []uint32{7, 8, 9}
			r.Connections[2].Ends[0].Addr = host(3)
			r.Connections[2].Upper = &agent.Upper{Protocol: rpcOverRDMA, First: []upper.FirstCall{{XID: 8, Frame: 5001}}}
		}, nil, []string{"retransmitted on the next"}},
		{"of RPC, and none is accepted", func(r *agent.Result) {
			r.Connections[0].Upper.Protocol, r.Connections[1].Upper.Protocol = rpcOverRDMA, rpcOverRDMA
			r.Connections = r.Connections[:2]
		}, []string{"1s before the first DREQ\n"}, []string{rpcAgain}},
		{"another client, accepted later", func(r *agent.Result) {
			f := r.Findings[1]
			f.Peer.Addr = host(2)
			r.Findings = append(r.Findings, f)
			r.Connections = append(r.Connections, connection(2, 0x14, 7000, 9900, 0, 0))
		}, []string{"after the last refusal; one of 10.0.0.2 in frame 7000, at +7.000 s\n"}, nil},
		{"refused at once, and accepted long after", func(r *agent.Result) {
			r.Findings[0].Time, r.Findings[1].Time = at(2100), at(2200)
		}, []string{with}, nil},
		{"refused for long, and accepted long after", func(r *agent.Result) {
			r.Findings[1].Time, r.Connections[2].First, r.Last = at(8000), at(20000), at(30000)
		}, []string{with}, []string{"an RDMA device or driver"}},
		{"the host serves others on", func(r *agent.Result) {
			r.Connections = append(r.Connections, connection(2, 0x20, 20, 9000, 0, 0))
		}, []string{wentOn}, []string{"count on"}},
		{"it served others until then", func(r *agent.Result) {
			r.Connections = append(r.Connections, connection(2, 0x20, 20, 1990, 0, 0))
		}, []string{with}, []string{stayed}},
		{"its queue pairs do not count on", func(r *agent.Result) { r.Connections[2].Ends[1].QPN = 0x70 }, []string{with}, []string{stayed}},
	} {
		r := &agent.Result{RDMA: 99, First: at(0), Last: at(10000), Connections: []agent.Connection{
			connection(1, 0x11, 10, 1990, 2000, 9), connection(1, 0x12, 11, 1990, 2001, 1), connection(1, 0x13, 6000, 9900, 0, 0),
		}}
		hangs(&r.Connections[0], 1000, 2, 1)
		hangs(&r.Connections[1], 1500, 2, 0)
		for _, ms := range []int64{4000, 5000} {
			r.Findings = append(r.Findings, rule.Finding{
				Rule: rule.EvReject, Class: rule.Event, Time: at(ms), Frame: uint64(ms), Detail: "invalid service ID (reason 8), TCP port 4420",
				Accused: rule.Endpoint{Addr: host(9)}, Peer: rule.Endpoint{Addr: host(1)},
			})
		}
		tt.set(r)
		says(t, tt.name, toldOf(Of(r), Rejected), tt.want, tt.not)
	}
}
