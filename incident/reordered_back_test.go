package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/incident"
	"ibwitness/packet"
	"ibwitness/qp"
)

// TestReorderedBack: where packets to a host came late and none is missing at the tap, what it retransmitted to their senders, as NAKs asked
// for what the tap shows, is told with that, and not as a loss; not where
// packets may be missing, where its timer ran out, of what it sent to others, or of far more than came late.
func TestReorderedBack(t *testing.T) {
	const (
		told = "opposite: 30 NAKs of 10.0.0.1 asked 10.0.0.9 for what the tap shows, and it retransmitted 90 packets: likely overtaken too; a tap here cannot show whether that was lost or overtaken"
		next = "adaptive routing or packet spraying of the switches for this traffic, and out_of_sequence of 10.0.0.9: "
	)
	addr := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	for _, k := range []struct {
		name    string
		missing uint64 // packets without a number
		timers  uint32
		to      byte
		naks    uint32 // for what came late
		back    bool
	}{
		{"none is missing", 0, 0, 1, 60, true},
		{"one may be missing", 1, 0, 1, 60, false},
		{"timers ran out", 0, 9, 1, 60, false},
		{"to another host", 0, 0, 2, 60, false},
		{"hardly any NAK for what came late", 0, 0, 1, 6, false},
	} {
		r := &agent.Result{First: second(1), Last: second(3), RDMA: 1}
		c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: second(1), FirstFrame: 1}
		o := qp.Overtaken{Packets: 20, Numbered: 20, Depth: 3, First: second(1), Last: second(2), Frame: 10, Newest: 100, Asked: 5}
		c.Ends[0] = agent.End{Addr: addr(1), QPN: 3, QPNKnown: true, Packets: 900 + k.missing, Retransmissions: 100, Last: second(2), Trouble: &qp.Trouble{Overtaking: &qp.Overtaking{Sum: o}}}
		c.Ends[1] = agent.End{Addr: addr(9), QPN: 7, QPNKnown: true, Packets: 90, Last: second(2), NAKs: k.naks}
		r.ArrivedQPs = []agent.NumberedPair{{Host: addr(1), DestQP: 7, Packets: 900}}
		back := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: second(1), FirstFrame: 2}
		x := &qp.Trouble{Sum: qp.Stalls{Count: 30, Begun: second(1), Last: second(2)}, Again: qp.Sums{Packets: 90}}
		x.Sum.Rounds[qp.SequenceAsked], x.Sum.Rounds[qp.TimerExpired], x.Asked.After = 30, k.timers, 30
		back.Ends[0] = agent.End{Addr: addr(9), QPN: 8, QPNKnown: true, Packets: 900, Retransmissions: 90, Last: second(2), Trouble: x}
		back.Ends[1] = agent.End{Addr: addr(k.to), QPN: 4, QPNKnown: true, Packets: 90, Last: second(2), NAKs: 30, SequenceNAKs: 30}
		r.Connections = append(r.Connections, c, back)
		list, got := incident.Of(r), toldOf(r)
		if strings.Contains(got, told) != k.back || (list[0].Kind == incident.Reordered && len(list) == 1) != k.back {
			t.Errorf("%s: %d incidents: %s", k.name, len(list), got)
		}
		if k.back && !strings.HasPrefix(list[0].Next[0], next) {
			t.Errorf("%s: next %q", k.name, list[0].Next)
		}
	}
}
