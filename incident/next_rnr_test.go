package incident

import (
	"testing"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// TestNextRNRRetry: an RNR retry count that CM does not tell of a connection is likely the one that it tells of the next between the same hosts,
// where that is how often was retried.
func TestNextRNRRetry(t *testing.T) {
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	connection := func(first int64, own, peer uint8) agent.Connection {
		c := agent.Connection{Service: packet.RC, First: first, PairedBy: agent.ByCM}
		for e, retries := range [2]uint8{own, peer} {
			c.Ends[e] = agent.End{Addr: host(byte(e + 1)), QPN: uint32(first), QPNKnown: true, Packets: 1}
			c.Ends[e].Settings.Known, c.Ends[e].Settings.RNRRetry = qp.KnowsRNRRetry, retries
		}
		return c
	}
	for _, tt := range []struct {
		name      string
		own, peer uint8
		by        agent.PairedBy
		first     int64
		want      string
	}{
		{"given to it", 6, 7, agent.ByCM, 200, ", which the REP of the next connection gives 10.0.0.1"},
		{"given by it", 7, 6, agent.ByCM, 200, ", which 10.0.0.1 names in its REQ of the next connection, there for 10.0.0.2"},
		{"another", 7, 5, agent.ByCM, 200, ""},
		{"not by CM", 6, 6, agent.ByPSN, 200, ""},
		{"before", 6, 6, agent.ByCM, 50, ""},
	} {
		r := &agent.Result{Connections: []agent.Connection{connection(10, 0, 0), connection(tt.first, tt.own, tt.peer)}}
		r.Connections[1].PairedBy = tt.by
		if got := newTeller(r).nextRNRRetry(&r.Connections[0], 0, 6, 100); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
