package incident

import (
	"testing"

	"ibwitness/agent"
	"ibwitness/packet"
)

// TestToSameHost: connections of the same two hosts on which the peer went on sending are counted, not those on which it stopped, those with another host, or those that began later.
func TestToSameHost(t *testing.T) {
	addr := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	with := func(n byte, last int64) agent.Connection {
		return agent.Connection{Service: packet.RC, Ends: [2]agent.End{{Addr: addr(n)}, {Addr: addr(2), Last: last}}}
	}
	later := with(1, 90)
	later.First = 51
	for want, more := range map[string][]agent.Connection{
		"; on 2 with 10.0.0.1, too": {with(1, 60), with(1, 70), with(1, 40), with(3, 80), later},
		"":                          {with(1, 40), with(3, 80), later},
	} {
		r := &agent.Result{Connections: append([]agent.Connection{with(1, 90)}, more...)}
		i := Incident{Local: Party{Addr: addr(1)}, Peer: Party{Addr: addr(2)}}
		if got := newTeller(r).toSameHost(&i, &r.Connections[0], 50); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
