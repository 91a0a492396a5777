package incident

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// TestCrossed: what one end sends to an address that sends nothing, and what another address sends to that end, from the same time on and never answered, are told as the halves of one connection, first in both; not where
// another pairing is as possible, they begin apart, the address sends on other connections, others do not reach it either, or a queue pair is not one of its host.
func TestCrossed(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	half := func(from, to byte, qpn uint32, ms int64) agent.Connection {
		c := agent.Connection{Service: packet.RC, First: at(ms), FirstFrame: uint64(ms)}
		c.Ends[0] = agent.End{Addr: host(from), Packets: 8, Messages: 1, Last: at(ms + 7000), Stalled: true}
		c.Ends[1] = agent.End{Addr: host(to), QPN: qpn, QPNKnown: true}
		stall := qp.Stall{Request: qp.StalledRequest{Frame: uint64(ms)}, Since: at(ms), Begun: at(ms + 1000), Last: at(ms + 7000), Packets: 7}
		stall.Rounds[qp.TimerExpired] = 7
		c.Ends[0].Trouble = &qp.Trouble{Now: stall}
		return c
	}
	works := func(a, b byte, of, with uint32) agent.Connection {
		c := agent.Connection{Service: packet.RC, First: at(0), FirstFrame: 1}
		c.Ends[0] = agent.End{Addr: host(a), QPN: of, QPNKnown: true, Packets: 900, Messages: 400, Last: at(29000)}
		c.Ends[1] = agent.End{Addr: host(b), QPN: with, QPNKnown: true, Packets: 900, Messages: 400, Last: at(29000)}
		return c
	}
	const said = "Very likely the two halves of one connection, for which 10.0.0.1 was given the address 10.0.0.22 in place of 10.0.0.2: 10.0.0.1 sends to 10.0.0.22 QP 0x202, and 10.0.0.2 to 10.0.0.1 QP 0x102, from the same time on (within 20ms), and neither is ever answered. "
	for _, k := range []struct {
		name string
		set  func(r *agent.Result)
		told bool
	}{
		{"halves", func(*agent.Result) {}, true},
		{"apart in time", func(r *agent.Result) { r.Connections[2] = half(2, 1, 0x102, 4000) }, false},
		{"two that may be the other half", func(r *agent.Result) { r.Connections = append(r.Connections, half(3, 1, 0x103, 2030)) }, false},
		{"the address sends", func(r *agent.Result) { r.Connections = append(r.Connections, works(22, 3, 0x901, 0x301)) }, false},
		{"others do not reach it either", func(r *agent.Result) { r.Connections = append(r.Connections, half(3, 22, 0x210, 2900)) }, false},
		{"no queue pair of that host", func(r *agent.Result) { r.Connections[1] = half(1, 22, 0x9002, 2000) }, false},
		{"a host that nothing reaches", func(r *agent.Result) { r.Connections = r.Connections[1:] }, false},
		{"the capture lost packets", func(r *agent.Result) { r.Dropped = 1 }, true},
	} {
		r := &agent.Result{RDMA: 8000, Packets: 8000, First: at(0), Last: at(30000), Connections: []agent.Connection{works(1, 2, 0x101, 0x201), half(1, 22, 0x202, 2000), half(2, 1, 0x102, 2020)}}
		k.set(r)
		n := 0
		for _, i := range Of(r) {
			if strings.Contains(i.What, "two halves") {
				n++
				if !strings.HasPrefix(i.What, said) || i.Facts[0].Label != "halves" || !strings.HasPrefix(i.FitsWith[0], "a GID of another port of the host of 10.0.0.2 that 10.0.0.1 was given") || !strings.HasPrefix(i.Next[0], "which GID 10.0.0.2 announced") {
					t.Errorf("%s: %+v", k.name, i)
				}
			}
		}
		if k.told && n != 2 || !k.told && n != 0 {
			t.Errorf("%s: %d", k.name, n)
		}
	}
}
