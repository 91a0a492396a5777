package incident

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/timing"
)

// TestBeforeRestart: a host that asks on a connection of before the restart of another, once that is back, is told with the
// restart; not where nothing shows one, or the connection began after it or is answered.
func TestBeforeRestart(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	connection := func(from, to byte, qpn uint32, first, last int64) agent.Connection {
		c := agent.Connection{Service: packet.RC, PairedBy: agent.ByCM, First: at(first), FirstFrame: uint64(first), Timing: &timing.Connection{}}
		for k := range c.Ends {
			c.Ends[k] = agent.End{Addr: host([2]byte{from, to}[k]), QPN: qpn, QPNKnown: true, Packets: 1000, Messages: 500, Last: at(last)}
			c.Timing.Ends[k].Active = timing.Activity{First: at(first), Last: at(last)}
		}
		return c
	}
	stalled := func(c *agent.Connection, since int64) {
		s := qp.Stall{Request: qp.StalledRequest{Frame: uint64(since)}, Since: at(since), Begun: at(since + 100), Last: at(since + 900), Packets: 7}
		s.Rounds[qp.TimerExpired] = 7
		c.Ends[1].Trouble, c.Ends[1].Stalled, c.Ends[1].Last = &qp.Trouble{Now: s}, true, at(since+900)
		a := &c.Timing.Ends[1].Active
		a.Silences, a.Last = []timing.Silence{{From: a.Last, To: at(since)}}, at(since+900)
	}
	const (
		one = "in use: 10.0.0.4 QP 0x103 still uses its connection of before the restart, which is gone: " +
			"nothing answers there what is asked in frame 12000, at +12.000 s\n"
		two = "in use: 2 connections of before the restart, which are gone, are still used, " +
			"and nothing answers there: of 10.0.0.4 QP 0x103 and 10.0.0.5 QP 0x104\n"
	)
	for _, k := range []struct {
		name      string
		set       func(r *agent.Result)
		want      string
		incidents int
	}{
		{"one", func(*agent.Result) {}, one, 1},
		{"two", func(r *agent.Result) {
			c := connection(1, 5, 0x104, 1, 2000)
			stalled(&c, 15000)
			r.Connections = append(r.Connections, c)
		}, two, 1},
		{"no restart", func(r *agent.Result) { r.Connections[1].Ends[0].QPN = 0x102 }, "", 2},
		{"a connection of after it", func(r *agent.Result) {
			c := connection(1, 4, 0x13, 10000, 11000)
			stalled(&c, 12000)
			r.Connections[3] = c
		}, "", 2},
		{"it is answered", func(r *agent.Result) { r.Connections[3] = connection(1, 4, 0x13, 10000, 29000) }, "", 1},
		{"it asks no more", func(r *agent.Result) { r.Connections[3] = connection(1, 4, 0x103, 1, 2000) }, "", 1},
	} {
		r := &agent.Result{RDMA: 8000, Packets: 8000, First: at(0), Last: at(30000), Taps: make([]fabricagent.Tap, 1)}
		failed, old := connection(1, 2, 0x101, 1, 3000), connection(1, 4, 0x103, 1, 2000)
		stalled(&failed, 3000)
		stalled(&old, 12000)
		r.Connections = append(r.Connections, failed, connection(1, 2, 0x12, 19000, 29990), connection(3, 2, 0x301, 1, 29990), old)
		r.Signs = []agent.Sign{{Presence: fabricagent.Presence{Host: host(1)}, At: at(9000), Frame: 9000}}
		k.set(r)
		list := Of(r)
		var got strings.Builder
		for n := range list {
			got.WriteString(list[n].What + "\n")
			for _, f := range list[n].Facts {
				got.WriteString(f.Label + ": " + f.Text + "\n")
			}
		}
		if len(list) != k.incidents || !strings.Contains(got.String(), k.want) || k.want == "" && strings.Contains(got.String(), "before the restart") {
			t.Errorf("%s: %d incidents: %s", k.name, len(list), got.String())
		}
	}
}
