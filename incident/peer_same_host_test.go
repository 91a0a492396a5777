package incident

import (
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
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

// TestFellSilentOn: the connections are counted of a host that fell silent on all of them at once; not those that were closed before, that are of others, or on
// which it never sent, and none where the capture ends soon after, or holds a frame of it after that.
func TestFellSilentOn(t *testing.T) {
	addr := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	with := func(n byte, last, closed int64) agent.Connection {
		c := agent.Connection{Service: packet.RC, First: at(0), Ends: [2]agent.End{{Addr: addr(n), Packets: 9, Last: at(last)}, {Addr: addr(2), Packets: 9, Last: at(last)}}}
		if closed != 0 {
			c.Closed = agent.Closed{By: addr(2), At: at(closed)}
		}
		return c
	}
	never := with(1, 0, 0)
	never.Ends[0].Packets = 0
	for _, k := range []struct {
		name string
		end  int64
		sign int64
		more []agent.Connection
		want int
	}{
		{"two connections, both disconnected after it", 9000, 0, []agent.Connection{with(1, 900, 7000), with(3, 8999, 0), with(1, 500, 600), never}, 2},
		{"one", 9000, 0, []agent.Connection{with(3, 8999, 0)}, 1},
		{"the capture ends", 1900, 0, []agent.Connection{with(1, 900, 0)}, 0},
		{"ARP of it later", 9000, 5000, []agent.Connection{with(1, 900, 0)}, 0},
		{"it went on", 9000, 0, []agent.Connection{with(1, 1001, 0)}, 0},
	} {
		r := &agent.Result{First: at(0), Last: at(k.end), Connections: append([]agent.Connection{with(1, 1000, 7000)}, k.more...)}
		if k.sign != 0 {
			r.Signs = []agent.Sign{{Presence: fabricagent.Presence{Host: addr(1), By: fabricagent.ByARP}, At: at(k.sign), Frame: 9}}
		}
		if got := newTeller(r).fellSilentOn(addr(1), at(1000)); got != k.want {
			t.Errorf("%s: %d, want %d", k.name, got, k.want)
		}
	}
}
