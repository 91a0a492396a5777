package incident

import (
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// TestMostlyOvertaken: a round of retransmission comes after many packets that were overtaken, which it most likely is one of, and before few.
func TestMostlyOvertaken(t *testing.T) {
	for packets, first := range map[uint32]Kind{9: Loss, 10: Reordered} {
		c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1}
		for e := range c.Ends {
			c.Ends[e] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(e + 1)}), QPN: 16, QPNKnown: true, Packets: 100, Last: int64(time.Second)}
		}
		x := &qp.Trouble{Sum: qp.Stalls{Count: 1, Rounds: [qp.NumCauses]uint32{1}, Begun: 5, Last: 9}}
		x.Overtaking = &qp.Overtaking{Sum: qp.Overtaken{Packets: packets, Depth: 2, First: 5, Last: 9}}
		c.Ends[0].Trouble = x
		list := Of(&agent.Result{First: 1, Last: int64(time.Second), RDMA: 1, Connections: []agent.Connection{c}})
		if len(list) != 2 || list[0].Kind != first {
			t.Errorf("%d: %+v", packets, list)
		}
	}
}
