package incident

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// TestBeforeHoled: a capture that lost packets comes before answers that it does not hold where nothing shows that the network lost any, and not
// where something does, or anything else happened.
func TestBeforeHoled(t *testing.T) {
	holed := Incident{Kind: Waiting, Certainty: Possible, inHole: true}
	for _, k := range []struct {
		name  string
		list  []Incident
		first bool
	}{
		{"no loss in the network", []Incident{holed, holed, {Kind: Untrusted, lacks: true, noLoss: true}, {Kind: Untrusted, copies: 3000}}, true},
		{"perhaps", []Incident{holed, holed, {Kind: Untrusted, lacks: true}}, false},
		{"losses too", []Incident{holed, {Kind: Loss, Certainty: Proven}, {Kind: Untrusted, lacks: true, noLoss: true}}, false},
		{"a command that waits", []Incident{{Kind: Waiting, Certainty: Proven}, {Kind: Untrusted, lacks: true, noLoss: true}}, false},
	} {
		was := len(k.list)
		if list := capturesFirst(k.list); len(list) != was || list[0].noLoss != k.first || k.first && (list[1].copies == 0 || !list[3].inHole) {
			t.Errorf("%s: %+v", k.name, list)
		}
	}
}

// TestNetworkWell: a capture that lost packets says that nothing shows the network to have lost any, that copies of a mirror are no
// retransmissions, and that its clock was set; not where something was retransmitted.
func TestNetworkWell(t *testing.T) {
	const none = "Nothing in it says that the network lost any: it holds no PSN sequence NAK and no retransmission"
	a, b := packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2})
	for _, k := range []struct {
		name        string
		copies      uint64
		again, step bool
		want        string
	}{
		{"none", 0, false, false, none + "."},
		{"copies", 100, false, false, none + "; 100 copies that look like some are of packets that a mirror shows twice, see there."},
		{"and a clock", 0, false, true, none + "."},
		{"a retransmission", 100, true, true, ""},
	} {
		c := agent.Connection{Service: packet.RC, First: 1, Ends: [2]agent.End{
			{Addr: a, QPN: 1, QPNKnown: true, Packets: 5000}, {Addr: b, QPN: 2, QPNKnown: true, Packets: 5000},
		}}
		if k.again {
			c.Ends[0].Retransmissions, c.Ends[0].Trouble = 1, &qp.Trouble{Sum: qp.Stalls{Count: 1, Begun: int64(time.Second), Last: int64(time.Second)}}
		}
		r := &agent.Result{RDMA: 10000, Packets: 10000, First: 1, Last: int64(2 * time.Second), Dropped: 200, Connections: []agent.Connection{c}}
		if k.copies > 0 {
			r.Mirrored = []agent.Mirrored{{From: a, To: b, Copies: k.copies, Once: 100, Numbered: true}}
		}
		if k.step {
			r.Clock.Count, r.Clock.Frame = 1, 77
		}
		for _, i := range Of(r) {
			if !i.lacks || !strings.HasPrefix(i.What, "The capture lost ") {
				continue
			}
			if strings.Contains(i.What, none) != (k.want != "") || !strings.HasSuffix(i.What, k.want) || i.says("clock") != (k.step && !k.again) {
				t.Errorf("%s: %s %v", k.name, i.What, i.Facts)
			}
		}
	}
}
