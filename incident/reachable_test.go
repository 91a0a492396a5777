package incident

import (
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/verifier/cm"
)

// TestReachable: of a host that answers no REQ, though it answers pings, it is told whether it speaks TCP, and whether the RDMA of the one that asks
// works with others; what to look at is then not what fails alike.
func TestReachable(t *testing.T) {
	at := func(s int64) int64 { return int64(time.Hour) + s*int64(time.Second) }
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	sign := func(from, to byte, ports [2]uint16, by fabricagent.Means, frame uint64) agent.Sign {
		return agent.Sign{Presence: fabricagent.Presence{Host: host(from), To: host(to), Ports: ports, By: by}, At: at(2), Frame: frame}
	}
	const (
		pings = "but it answered 7 pings in 19s"
		tcp   = pings + ", and spoke TCP from its port 22 with 10.0.0.1, the last in frame 21: it is up\n"
		asker = "asker: 10.0.0.1 exchanged packets with 10.0.0.3 meanwhile: its own adapter and RDMA work\n"
		rules = "next: rdma link on 10.0.0.2, and the GID of its address (show_gids); rules for UDP port 4791 from 10.0.0.1 to 10.0.0.2 and back"
		there = "a capture at 10.0.0.2, if this is none: whether the REQs arrive there"
	)
	for _, tt := range []struct {
		name      string
		set       func(r *agent.Result)
		want, not []string
	}{
		{"all of it", func(*agent.Result) {}, []string{tcp, asker, rules, there}, []string{"next: rping", "ping and rping"}},
		{"its TCP had no answer", func(r *agent.Result) { r.Signs = r.Signs[1:] }, []string{pings + ": it is up", asker, rules}, []string{"TCP from"}},
		{"it answered no pings", func(r *agent.Result) {
			r.Echoes, r.Signs = nil, nil
		}, []string{asker, "next: ping and rping from 10.0.0.1"}, []string{"it is up"}},
		{"the asker has no other peer", func(r *agent.Result) { r.Connections = nil }, []string{tcp, rules}, []string{"asker:"}},
		{"its peer was there before", func(r *agent.Result) { r.Connections[0].Ends[1].Last = at(4) }, []string{tcp}, []string{"asker:"}},
		{"its peer does not answer either", func(r *agent.Result) { r.Connections[0].Ends[0].Stalled = true }, []string{tcp}, []string{"asker:"}},
		{"it is another host that has a peer", func(r *agent.Result) { r.Connections[0].Ends[0].Addr = host(4) }, []string{tcp}, []string{"asker:"}},
	} {
		c := agent.Connection{Service: packet.RC, First: at(1)}
		for e, n := range [2]byte{1, 3} {
			c.Ends[e] = agent.End{Addr: host(n), QPN: 0x11, QPNKnown: true, Packets: 9, Last: at(30)}
		}
		r := &agent.Result{
			RDMA: 99, First: at(0), Last: at(40), Connections: []agent.Connection{c},
			Echoes: []agent.Echo{{Addr: host(2), Replies: 7, First: at(1), Last: at(20)}},
			Signs:  []agent.Sign{sign(1, 2, [2]uint16{41822, 22}, fabricagent.ByTCP, 20), sign(2, 1, [2]uint16{22, 41822}, fabricagent.ByTCP, 21)},
			REQs:   []cm.Unanswered{{From: host(1), To: host(2), Times: 5, First: at(6), Last: at(26), Frame: 99}},
		}
		if tt.set(r); len(r.Connections) > 0 && r.Connections[0].Ends[0].Stalled {
			r.Connections[0].Ends[0].Trouble = new(qp.Trouble)
		}
		says(t, tt.name, toldOf(Of(r), Ignored), tt.want, tt.not)
	}
}
