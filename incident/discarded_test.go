package incident

import (
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/verifier/cm"
)

// TestDiscarded: why nothing answers a REQ is what ICMP says of it, or, without ICMP, its hop limit, where pings of that host come through a router;
// that the RDMA of the host which asks works with others is not told then.
func TestDiscarded(t *testing.T) {
	at := func(s int64) int64 { return int64(time.Hour) + s*int64(time.Second) }
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	discards := func(by byte, why fabricagent.Reason, last int64) []agent.Discards {
		d := fabricagent.Discard{By: host(by), From: host(1), To: host(2), Reason: why}
		return []agent.Discards{{Discard: d, Count: 16, First: at(6), Last: at(last), Frame: 397}}
	}
	const (
		asker  = "asker: 10.0.0.1 exchanged packets with 10.0.0.3 meanwhile"
		filter = "a filter of it for UDP port 4791"
		small  = "a hop limit (TTL) that 10.0.0.1 sets too small"
		loop   = "a routing loop on the way from 10.0.0.1 to 10.0.0.2"
		ran    = "10.0.0.9 discarded RoCE packets of 10.0.0.1 to 10.0.0.2: they were sent with a hop limit (TTL) of 1, which ran out there."
		icmp   = "ICMP: 10.0.0.9 sent 10.0.0.1 16 messages (time exceeded) that quote them, the first in frame 397\n"
		nobody = "nothing shows that they came to 10.0.0.2"
		noLoop = "loop: a routing loop is excluded: a hop limit of 1 runs out at the first router\n"
		hops   = "hop limit: 10.0.0.1 sent the REQs with 1 (TTL); answers of 10.0.0.2 to pings came with 63, thus through 1 router, where it seems"
	)
	for _, tt := range []struct {
		name      string
		set       func(r *agent.Result)
		want, not []string
	}{
		{"time exceeded", func(r *agent.Result) {
			r.Discards = discards(9, fabricagent.NoHopsLeft, 26)
		}, []string{ran, icmp, nobody, small, noLoop}, []string{asker, filter, loop, hops}},
		{"of a usual hop limit", func(r *agent.Result) {
			r.Discards, r.REQs[0].HopLimit = discards(9, fabricagent.NoHopsLeft, 26), 64
		}, []string{"with a hop limit (TTL) of 64, which ran out there", loop}, []string{small, asker, noLoop}},
		{"of one that is not known", func(r *agent.Result) {
			r.Discards, r.REQs[0].HopLimit = discards(9, fabricagent.NoHopsLeft, 26), 0
		}, []string{"10.0.0.2: their hop limit (TTL) ran out there.", small, loop}, []string{asker, noLoop}},
		{"of a small one that a loop may use up too", func(r *agent.Result) {
			r.Discards, r.REQs[0].HopLimit = discards(9, fabricagent.NoHopsLeft, 26), 2
		}, []string{"with a hop limit (TTL) of 2, which ran out there", small}, []string{noLoop}},
		{"no route", func(r *agent.Result) {
			r.Discards = discards(9, fabricagent.NoRoute, 26)
		}, []string{": it has no route to 10.0.0.2.", "missing on 10.0.0.9"}, []string{asker, small}},
		{"host unreachable", func(r *agent.Result) {
			r.Discards = discards(9, fabricagent.NoHost, 26)
		}, []string{": it does not reach 10.0.0.2.", "or not at this address"}, []string{asker, small}},
		{"port unreachable", func(r *agent.Result) {
			r.Discards = discards(2, fabricagent.NoPort, 26)
		}, []string{"10.0.0.2 discarded RoCE", ": nothing takes UDP port 4791 there.", "rdma link on 10.0.0.2"}, []string{asker, small, nobody}},
		{"prohibited", func(r *agent.Result) {
			r.Discards = discards(9, fabricagent.Prohibited, 26)
		}, []string{": a filter there refuses them.", "a filter of 10.0.0.9 that refuses"}, []string{asker}},
		{"ICMP of before", func(r *agent.Result) {
			r.Discards, r.REQs[0].HopLimit = discards(9, fabricagent.NoHopsLeft, 5), 64
		}, []string{asker, filter}, []string{"discarded", small}},
		{"ICMP of another way", func(r *agent.Result) {
			r.Discards, r.REQs[0].HopLimit = discards(9, fabricagent.NoHopsLeft, 26), 64
			r.Discards[0].To = host(3)
		}, []string{asker, filter}, []string{"discarded", small}},
		{"no ICMP", func(*agent.Result) {}, []string{hops, small, "the REQs do not come to 10.0.0.2"}, []string{asker, filter, "discarded RoCE"}},
		{"no ICMP, no router", func(r *agent.Result) { r.Echoes[0].HopLimit = 64 }, []string{asker, filter}, []string{small, hops}},
		{"no ICMP, hops enough", func(r *agent.Result) { r.REQs[0].HopLimit = 2 }, []string{asker, filter}, []string{small}},
		{"no ICMP, hop limit not known", func(r *agent.Result) { r.REQs[0].HopLimit = 0 }, []string{asker, filter}, []string{small}},
		{"no ICMP, no pings", func(r *agent.Result) { r.Echoes = nil }, []string{asker}, []string{small}},
		{"no ICMP, pings start elsewhere", func(r *agent.Result) { r.Echoes[0].HopLimit = 100 }, []string{asker, filter}, []string{small}},
	} {
		c := agent.Connection{Service: packet.RC, First: at(1)}
		for e, n := range [2]byte{1, 3} {
			c.Ends[e] = agent.End{Addr: host(n), QPN: 0x11, QPNKnown: true, Packets: 9, Last: at(30)}
		}
		r := &agent.Result{
			RDMA: 99, First: at(0), Last: at(40), Connections: []agent.Connection{c},
			Echoes: []agent.Echo{{Addr: host(2), Replies: 7, First: at(1), Last: at(20), HopLimit: 63}},
			REQs:   []cm.Unanswered{{From: host(1), To: host(2), Times: 5, First: at(6), Last: at(26), Frame: 99, HopLimit: 1}},
		}
		tt.set(r)
		says(t, tt.name, toldOf(Of(r), Ignored), tt.want, tt.not)
	}
}
