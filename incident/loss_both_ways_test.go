package incident

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// TestLossBothWays: what was lost between the tap and several hosts, both ways, is one incident; not where it was hardly lost one way, or some on the other side of the tap.
func TestLossBothWays(t *testing.T) {
	for _, k := range []struct {
		name              string
		to, from, near    uint32 // what was lost on the way to the host before the tap, from it after the tap, and to it after the tap
		lossy, told       int
		clean, mentioning bool
	}{
		{"both ways", 10, 13, 0, 2, 1, true, true},
		{"some on the other side", 10, 13, 2, 2, 2, true, false},
		{"one way", 0, 13, 0, 2, 1, true, false},
		{"none spared", 10, 13, 0, 2, 2, false, false},
		{"nothing lost", 0, 0, 0, 0, 0, true, false},
	} {
		r := &agent.Result{First: 1, Last: int64(time.Second), RDMA: 1, Taps: make([]fabricagent.Tap, 1)}
		for n := range byte(4) {
			c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1}
			for e, host := range [...]byte{1, n + 2} {
				c.Ends[e] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, host}), QPN: uint32(n) + 16*uint32(e+1), QPNKnown: true, Packets: 9000, Messages: 9000, Last: int64(time.Second)}
			}
			if !k.clean && n >= 2 {
				break
			}
			if int(n) < k.lossy {
				asked := func(e int, before, after uint32) {
					if before+after == 0 {
						return
					}
					x := &qp.Trouble{Sum: qp.Stalls{Count: 1, Begun: 5, Last: 9}}
					x.Sum.Rounds[qp.SequenceAsked], x.Asked.Before, x.Asked.After = before+after, before, after
					x.Again.Packets = 3 * uint64(before+after)
					c.Ends[e].Trouble, c.Ends[e].Retransmissions = x, 3*(before+after)
				}
				asked(0, 0, k.from)
				asked(1, k.to, k.near)
			}
			r.Connections = append(r.Connections, c)
		}
		list := Of(r)
		said := ""
		for _, i := range list {
			said += i.What + "\n"
		}
		const want = "Packets between 10.0.0.1 and 10.0.0.2 and 10.0.0.3 were lost, both ways, on 2 connections: at least 26 times what 10.0.0.1 sent, after the tap, and 20 times " +
			"what came to it, before the tap; between the tap and 2 other hosts, with 36,000 packets, nothing."
		if strings.Contains(said, want) != k.mentioning || len(list) != k.told {
			t.Errorf("%s: %d incidents: %s", k.name, len(list), said)
		}
	}
}
