package incident_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/link"
	"ibwitness/packet"
	"ibwitness/timing"
)

// TestPauseBefore: pauses of a port before a host at another tap, in the bursts of those that the host's own port asks for, are told with these, and what waits there
// too; not where they are at other times, of another priority, at the same tap, where packets for that host do not go there first, or where the port
// may not be the host's own.
func TestPauseBefore(t *testing.T) {
	const ms = int64(time.Millisecond)
	const (
		told = " In each of the 4 bursts of these pauses the port before it with Ethernet address 02:00:00:00:00:02 (tap 1), to which packets for 10.0.0.2 and 10.0.0.3 go, " +
			"had the other end of its link pause too, 16 times, for 8ms in all: likely a switch whose buffer fills with what waits for 10.0.0.2."
		waits    = " What goes to 10.0.0.3 over that link in that priority waits too."
		waited   = " What goes to 10.0.0.3 over that link waited too, for up to 4ms."
		ofSwitch = " In each of the 4 bursts of these pauses the port before it with Ethernet address 02:00:00:00:00:02 (tap 1), that of the switch to which 10.0.0.1 sends, " +
			"had the other end of its link pause too, 16 times, for 8ms in all: likely a switch whose buffer fills with what waits for 10.0.0.2."
		victims = "victims: 10.0.0.1 to 10.0.0.3, +0.999501 s for 4ms, +1.099501 s for 4ms"
	)
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	port := func(n byte, from int64, hosts ...packet.Addr) link.Paused {
		p := link.Paused{
			From: [6]byte{2, 0, 0, 0, 0, n}, Priority: 3, Tap: uint16(n - 1), Time: from, Frame: 7, LastTime: from + 303*ms, LastFrame: 900, Frames: 32, Resumed: 16, Begun: 16,
			Least: 8 * time.Millisecond, Most: 8 * time.Millisecond, Longest: 500 * time.Microsecond, Hosts: hosts,
		}
		for k := range int64(4) {
			p.Bunches = append(p.Bunches, link.Bunch{Lasting: link.Lasting{From: from + 100*k*ms, To: from + (100*k+3)*ms}, Pauses: 4})
		}
		return p
	}
	for _, k := range []struct {
		name   string
		change func(p, q *link.Paused)
		silent bool
		want   string
	}{
		{"before it", func(_, _ *link.Paused) {}, false, told + waits},
		{"before it, and a sender is silent", func(_, _ *link.Paused) {}, true, told + waited},
		{"a port of a switch that no packets go to", func(_, q *link.Paused) { q.Hosts, q.Unowned = nil, true }, false, ofSwitch + waits},
		{"and a short burst at another time", func(_, q *link.Paused) {
			from := second(2) + 50*ms
			q.Bunches = slices.Insert(q.Bunches, 1, link.Bunch{Lasting: link.Lasting{From: from, To: from + ms/10}, Pauses: 1})
		}, false, told + waits},
		{"and a long burst at another time", func(_, q *link.Paused) {
			from := second(2) + 50*ms
			q.Bunches = slices.Insert(q.Bunches, 1, link.Bunch{Lasting: link.Lasting{From: from, To: from + 2*ms}, Pauses: 4})
		}, false, ""},
		{"at other times", func(_, q *link.Paused) {
			for k := range q.Bunches {
				q.Bunches[k].From, q.Bunches[k].To = q.Bunches[k].From+2*ms, q.Bunches[k].To+2*ms
			}
		}, false, ""},
		{"another priority", func(_, q *link.Paused) { q.Priority = 4 }, false, ""},
		{"at the same tap", func(_, q *link.Paused) { q.Tap = 0 }, false, ""},
		{"on the way to others", func(_, q *link.Paused) { q.Hosts = q.Hosts[1:] }, false, ""},
		{"on the way to that host only", func(_, q *link.Paused) { q.Hosts = q.Hosts[:1] }, false, ""},
		{"perhaps of a router", func(p, _ *link.Paused) { p.Own = link.Own{} }, false, ""},
	} {
		p, q := port(1, second(2), host(2)), port(2, second(2)-ms/20, host(2), host(3))
		p.Own = link.Own{Host: host(2), HopLimit: 64}
		k.change(&p, &q)
		c := agent.Connection{Timing: timing.New(nil), Service: packet.RC, First: second(1), FirstFrame: 1, FirstTap: 1}
		c.Ends[0] = agent.End{Addr: host(1), QPN: 17, QPNKnown: true, Packets: 100, Messages: 100}
		c.Ends[1] = agent.End{Addr: host(3), QPN: 18, QPNKnown: true, Packets: 100}
		for at := int64(0); at < 400; at++ {
			if in := at % 100; !k.silent || in == 0 || in > 3 {
				from := second(2) + at*ms - ms/2
				c.Timing.Ends[0].NoteSent(timing.Sent{Begin: from, End: from + 1000})
			}
		}
		list := []agent.Connection{c}
		if q.Unowned {
			list = append(list, agent.Connection{Service: packet.RC, First: second(1), FirstFrame: 2, FirstTap: 1})
			list[1].Ends[0], list[1].Ends[1] = agent.End{Addr: host(1), Packets: 1}, agent.End{Addr: host(2), Packets: 1}
		}
		got := toldOf(&agent.Result{First: second(1), Last: second(3), RDMA: 1, Paused: []link.Paused{q, p}, Connections: list})
		ports := strings.Count(got, "The port with Ethernet address")
		if !strings.Contains(got, k.want) || strings.Contains(got, "the port before it") != (k.want != "") || (ports == 1) != (k.want != "") || strings.Contains(got, victims) != k.silent {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}
