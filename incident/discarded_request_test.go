package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// TestDiscardedRequest: a request that a router discards, with the hop limit of its connection's first packet: it is told where it is small; not where that is
// not known, or the peer may have sent that packet.
func TestDiscardedRequest(t *testing.T) {
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	for _, k := range []struct {
		hops   uint8
		answer uint64
		sent   bool
	}{{1, 0, true}, {0, 0, false}, {1, 1, false}} {
		c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: second(1), FirstFrame: 7, FirstHops: k.hops}
		s := qp.Stall{Since: second(1), Begun: second(2), Last: second(5)}
		s.Rounds[qp.TimerExpired] = 7
		c.Ends[0] = agent.End{Addr: host(1), QPN: 17, QPNKnown: true, Packets: 8, Last: second(5), Stalled: true, Open: 1, Trouble: &qp.Trouble{Now: s}}
		c.Ends[1] = agent.End{Addr: host(2), QPN: 27, QPNKnown: true, Packets: k.answer}
		got := toldOf(&agent.Result{First: 1, Last: second(60), RDMA: 8, Connections: []agent.Connection{c}, Discards: []agent.Discards{{
			Discard: fabricagent.Discard{By: host(9), From: host(1), To: host(2), Reason: fabricagent.NoHopsLeft}, Count: 3, First: second(1), Last: second(5), Frame: 8,
		}}})
		if strings.Contains(got, "they were sent with a hop limit (TTL) of 1, which ran out there") != k.sent {
			t.Errorf("%+v: %s", k, got)
		}
	}
}
