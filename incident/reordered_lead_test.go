package incident

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// TestUnderReordered: where packets came late, their receiver took them for lost, and none is missing at the tap, the stalls and retransmissions of these connections are told with that, and come first by what
// they cost in all; not where packets may be missing, where most of what was asked for had passed the tap in order, or of a stall of other hosts.
func TestUnderReordered(t *testing.T) {
	const ms = int64(time.Millisecond)
	addr := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	for _, k := range []struct {
		name    string
		arrived byte
		after   uint32
		other   bool // the stall is of a host whose packets came in order
		led     bool
	}{
		{"none is missing", 2, 0, false, true},
		{"of one host some may be missing", 1, 0, false, false},
		{"lost after the tap", 2, 9, false, false},
		{"seldom asked for what the tap shows", 2, 3, false, true},
		{"another host stalls", 2, 0, true, false},
	} {
		r := &agent.Result{First: ms, Last: 3000 * ms, RDMA: 1}
		for n := range byte(3) {
			c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: ms, FirstFrame: uint64(n + 1)}
			c.Ends[0], c.Ends[1] = agent.End{Addr: addr(n + 1), QPN: uint32(n), QPNKnown: true, Packets: 900, Last: 2000 * ms}, agent.End{Addr: addr(9), QPN: uint32(n), QPNKnown: true, Packets: 90, Last: 2000 * ms}
			x := &qp.Trouble{}
			if n < 2 {
				naks := uint32(20)
				if k.arrived < 2 { // most of the connection of which some may be missing, for which hardly any packets came late
					naks = [...]uint32{2, 58}[n]
				}
				c.Ends[0].Retransmissions, c.Ends[1].NAKs = 400, naks
				x.Overtaking = &qp.Overtaking{Sum: qp.Overtaken{Packets: 20, Numbered: 20, Depth: 3, First: ms, Last: 2000 * ms, Frame: uint64(10 + n), Newest: uint64(100 + n), Asked: 8}}
				x.Sum = qp.Stalls{Count: naks, Begun: ms, Last: 2000 * ms, Lost: 150 * ms}
				x.Sum.Rounds[qp.SequenceAsked], x.Again = naks, qp.Sums{Packets: 400, Bytes: 400000}
				x.Asked.Before, x.Asked.After = naks-k.after, k.after
			}
			if n == 0 && !k.other || n == 2 && k.other {
				s := qp.Stall{Since: 500 * ms, Begun: 607 * ms, Last: 607 * ms, Ended: 608 * ms, Packets: 1, Request: qp.StalledRequest{Op: wqe.Write, Frame: 50}}
				s.Rounds[qp.TimerExpired] = 1
				x.Longest[0] = s
			}
			if n < 2 || k.other {
				c.Ends[0].Trouble = x
			}
			if n < k.arrived {
				r.Arrived = append(r.Arrived, addr(n+1))
			}
			r.Connections = append(r.Connections, c)
		}
		list := Of(r)
		var facts []string
		for _, f := range list[0].Facts {
			facts = append(facts, f.Label+": "+f.Text)
		}
		told := strings.Join(facts, "\n")
		at := slices.IndexFunc(list, func(i Incident) bool { return i.Kind == Interrupted })
		if strings.Contains(list[0].What, "40 packets that 2 hosts sent to 10.0.0.9 came after later ones.") != k.led || (at < 0) != k.led {
			t.Errorf("%s: %s\n%s", k.name, list[0].What, told)
		}
		if k.led && (len(list) != 1 || !strings.Contains(told, "cost: 300ms without progress in all of these connections, up to 108ms at a time; 800,000 bytes of payload retransmitted\nstalls: 108ms of 10.0.0.1 QP 0x0, until a timer ran out: a receiver that drops what comes out of order asks for it once\n")) {
			t.Errorf("%s: %d incidents\n%s", k.name, len(list), told)
		}
	}
}
