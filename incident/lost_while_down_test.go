package incident

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/timing"
	"ibwitness/verifier/cm"
)

// TestLostWhileDown: hosts that lost another while it was down are one incident, also one that asked it only later, with each connection that was lost
// and when its host connected again; how long that took after the host refused others is counted from the first that it accepted, whose ever.
// A host that it lost once more after that is told of its own.
func TestLostWhileDown(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	connection := func(server, client byte, qpn uint32, first, last int64) agent.Connection {
		c := agent.Connection{Service: packet.RC, PairedBy: agent.ByCM, First: at(first), FirstFrame: uint64(first), Timing: &timing.Connection{}}
		for k := range c.Ends {
			c.Ends[k] = agent.End{Addr: host([2]byte{client, server}[k]), QPN: qpn, QPNKnown: true, Packets: 1000, Messages: 500, Last: at(last)}
			c.Timing.Ends[k].Active = timing.Activity{First: at(first), Last: at(last)}
		}
		return c
	}
	lost := func(client byte, qpn uint32, since int64) agent.Connection {
		c := connection(1, client, qpn, 1, 3000)
		stall := qp.Stall{Request: qp.StalledRequest{Frame: uint64(since)}, Since: at(since), Begun: at(since + 100), Last: at(since + 900), Packets: 7}
		stall.Rounds[qp.TimerExpired] = 7
		c.Ends[0].Trouble, c.Ends[0].Stalled, c.Ends[0].Last = &qp.Trouble{Now: stall}, true, at(since+900)
		c.Closed = agent.Closed{By: host(client), At: at(since + 980), Frame: uint64(since + 980)}
		return c
	}
	const (
		two    = "2 hosts lost 10.0.0.1 within 5s: "
		back   = "(invalid service ID, reason 8)\n"
		outage = "or more until a program listened, 3s or less for the reconnect delay of 10.0.0.4"
	)
	for _, k := range []struct {
		name      string
		set       func(r *agent.Result)
		want, not []string
	}{
		{"one asks later", func(*agent.Result) {}, []string{
			two, back, outage, "lost: 10.0.0.2 QP 0x101 and 10.0.0.4 QP 0x102; connected again: 10.0.0.4 at +18.000 s and 10.0.0.2 at +19.000 s",
		}, []string{"hosts: "}},
		{"many", func(r *agent.Result) {
			for n := range uint32(3) {
				r.Connections = append(r.Connections, lost(4, 0x110+n, 8000))
			}
		}, []string{"lost: 1 connection of 10.0.0.2 and 4 connections of 10.0.0.4; connected again"}, nil},
		{"one does not come back", func(r *agent.Result) { r.Connections[3].Ends[0].Addr = host(5) }, []string{
			"lost: 10.0.0.2 QP 0x101 and 10.0.0.4 QP 0x102; connected again: 10.0.0.2 at +19.000 s; not in the capture: 10.0.0.4",
		}, nil},
		{"one may still retry", func(r *agent.Result) {
			r.Connections[1].Closed, r.Connections[3].Ends[0].Addr = agent.Closed{}, host(5)
			s := &r.Connections[1].Ends[0].Trouble.Now
			s.Last, s.Rounds[qp.TimerExpired] = s.Begun, 1
		}, []string{two}, []string{"lost: "}},
		{"one asks only when it is back", func(r *agent.Result) { r.Connections[1] = lost(4, 0x102, 9100) }, nil, []string{two, "lost: "}},
		{"one went on after", func(r *agent.Result) {
			c := connection(1, 4, 0x102, 1, 29000)
			c.Timing.Ends[1].Active.Silences = []timing.Silence{{From: at(3000), To: at(12000)}}
			r.Connections[1] = c
		}, nil, []string{two, "lost: "}},
	} {
		r := &agent.Result{RDMA: 8000, Packets: 8000, First: at(0), Last: at(30000), Taps: make([]fabricagent.Tap, 1)}
		r.Connections = []agent.Connection{
			lost(2, 0x101, 3000), lost(4, 0x102, 8000), connection(1, 2, 0x201, 19000, 29990), connection(1, 4, 0x202, 18000, 29990), connection(7, 6, 0x301, 1, 29990),
		}
		for _, ms := range []int64{12000, 15000} {
			f := rule.Finding{Rule: rule.EvReject, Class: rule.Event, Time: at(ms), Frame: uint64(ms), Detail: cm.Refusal{Reason: mad.RejInvalidService, Service: "TCP port 987"}.String()}
			f.Accused.Addr, f.Peer.Addr = host(1), host(4)
			r.Findings = append(r.Findings, f)
		}
		r.Signs = []agent.Sign{{Presence: fabricagent.Presence{Host: host(1)}, At: at(9000), Frame: 9000}}
		k.set(r)
		i := &Of(r)[0]
		got := i.What
		for _, f := range i.Facts {
			got += "\n" + f.Label + ": " + f.Text
		}
		for _, want := range k.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s\nwant %q", k.name, got, want)
			}
		}
		for _, not := range k.not {
			if strings.Contains(got, not) {
				t.Errorf("%s: %s\nand not %q", k.name, got, not)
			}
		}
	}
}
