package incident

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// TestRatesOfAll: where several senders are marked still although they slowed down far, what they sent around CNPs is told in all, and the threshold fits first: not where they slowed down little,
// nor where nothing is marked, as they may have paused.
func TestRatesOfAll(t *testing.T) {
	const ms = int64(time.Millisecond)
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	for _, k := range []struct {
		name          string
		before, while uint64 // bytes of each
		marked, want  bool
	}{
		{"far", 10 << 20, 1 << 20, true, true},
		{"a little", 10 << 20, 60 << 20, true, false},
		{"nothing is marked", 10 << 20, 1 << 20, false, false},
	} {
		r := &agent.Result{First: 1, Last: 200 * ms, RDMA: 1}
		var list []sender
		for n := range byte(2) {
			c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1}
			c.Ends[0] = agent.End{Addr: host(n + 1), QPN: 16, QPNKnown: true, Packets: 100, Bytes: k.before + k.while, Last: 110 * ms}
			c.Ends[0].Trouble = &qp.Trouble{Notified: &qp.Notified{Count: 20, First: 10 * ms, Last: 110 * ms, Bytes: k.before, Until: k.before + k.while}}
			c.Ends[1] = agent.End{Addr: host(9), QPN: 17, QPNKnown: true, Packets: 100, Last: 110 * ms}
			r.Connections = append(r.Connections, c)
			list = append(list, sender{onWay: &onWay{way: way{host(n + 1), host(9)}}})
		}
		i := &Incident{Peer: Party{Addr: host(9)}}
		newTeller(r).ratesOfAll(i, list, k.marked, nil)
		if (len(i.Facts) > 0) != k.want || k.want && !strings.HasPrefix(i.Facts[0].Text, "they sent 16.8 Gbit/s on 2 queue pairs until the first CNP to each, ") || (len(i.FitsWith) > 0) != k.want || (len(i.Next) > 0) != k.want {
			t.Errorf("%s: %+v", k.name, i)
		}
	}
}
