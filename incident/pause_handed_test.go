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

// TestPauseHandedOn: pauses of ports of a switch that begin while those of a host last, and end right after, are told with these, as is what
// their senders
// send to others; not where they are at other times, end long after, are of a host, or of the other end of the host's link, as senders fall
// silent when its pause begins.
func TestPauseHandedOn(t *testing.T) {
	const us = int64(time.Microsecond)
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	port := func(n byte, at ...int64) link.Paused { // from when to when, µs
		p := link.Paused{From: [6]byte{2, 0, 0, 0, 0, n}, Priority: 3, Time: at[0] * us, LastTime: at[len(at)-1] * us, Frame: 7 + uint64(n), LastFrame: 900, Frames: uint64(len(at)), Unbroken: 50e9}
		for k := 0; k < len(at); k += 2 {
			s := link.Lasting{From: at[k] * us, To: at[k+1] * us}
			p.Each, p.Begun, p.Resumed, p.Most = append(p.Each, s), p.Begun+1, p.Resumed+1, p.Most+time.Duration(s.To-s.From)
			p.Longest = max(p.Longest, time.Duration(s.To-s.From))
		}
		p.Least = p.Most / 2
		return p
	}
	const (
		both   = " In each of these pauses the switch had the other end of 2 other links pause too, until right after, likely those to 10.0.0.3 and 10.0.0.5."
		one    = " In each of these pauses the switch had the other end of another link pause too, until right after, likely that to 10.0.0.3."
		victim = " What 10.0.0.3 sends to 10.0.0.4 waited too, for up to 4.9ms."
		when   = "victims: 10.0.0.3 to 10.0.0.4, +0.010161 s for 2.9ms, +0.030161 s for 4.9ms: no message began or ended then"
		each   = "pauses: +0.010000 s for 3ms, +0.030000 s for 5ms"
	)
	stops3, stops5 := []int64{10200, 13020, 30200, 35020}, []int64{10300, 13090, 30300, 35090}
	more := slices.Concat(stops3, []int64{35040, 35050, 35060, 35070})
	for _, k := range []struct {
		name         string
		three, five  []int64 // the pauses of the ports to 10.0.0.3 and 10.0.0.5
		silent       []int64 // when 10.0.0.3 is, if not in these
		change       func(q *link.Paused)
		told, victim bool
		said         string
	}{
		{"handed on", stops3, stops5, nil, nil, true, true, both},
		{"by one port", stops3, nil, nil, nil, true, true, one},
		{"and short ones after", more, stops5, nil, nil, true, true, both},
		{"the other end of the link", more, nil, []int64{10000, 13020, 30000, 35020}, nil, false, false, ""},
		{"at other times", []int64{14000, 17000, 36000, 41000}, nil, nil, nil, false, false, ""},
		{"ends long after", []int64{10200, 15020, 30200, 39020}, nil, nil, nil, false, false, ""},
		{"of a host", stops3, nil, nil, func(q *link.Paused) { q.Unowned, q.Hosts = false, []packet.Addr{host(3)} }, false, false, ""},
		{"another priority", stops3, nil, nil, func(q *link.Paused) { q.Priority = 4 }, false, false, ""},
	} {
		p := port(1, 10000, 13000, 30000, 35000)
		p.Hosts = []packet.Addr{host(2)}
		q := port(2, k.three...)
		q.Unowned = true
		if k.change != nil {
			k.change(&q)
		}
		r := &agent.Result{First: 1, Last: 50_000 * us, RDMA: 1, Paused: []link.Paused{q, p}}
		if k.five != nil {
			q := port(3, k.five...)
			q.Unowned = true
			r.Paused = []link.Paused{q, r.Paused[0], p}
		}
		silent := [][]int64{k.three, k.five}
		if k.silent != nil {
			silent[0] = k.silent
		}
		for n, way := range [][2]byte{{3, 4}, {3, 2}, {5, 2}} {
			c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1, FirstFrame: uint64(n + 1), Timing: timing.New(nil)}
			c.Ends[0] = agent.End{Addr: host(way[0]), QPN: 17 + uint32(n), QPNKnown: true, Packets: 100, Messages: 100, Last: 50_000 * us}
			c.Ends[1] = agent.End{Addr: host(way[1]), QPN: 27 + uint32(n), QPNKnown: true, Packets: 100, Last: 50_000 * us}
			stops := silent[n/2]
		next:
			for at := int64(10); at < 50_000; at += 50 {
				for j := 0; j+1 < len(stops); j += 2 {
					if at > stops[j] && at < stops[j+1] {
						continue next
					}
				}
				c.Timing.Ends[0].NoteSent(timing.Sent{Begin: at * us, End: at*us + 1000})
			}
			r.Connections = append(r.Connections, c)
		}
		got := toldOf(r)
		ports := strings.Count(got, "had the other end of its link pause")
		if strings.Contains(got, "the switch had the other end of") != k.told || !strings.Contains(got, k.said) || (ports == 1) != k.told || strings.Contains(got, each) != k.told || strings.Contains(got, " sends to 10.0.0.4 waited too") != k.victim {
			t.Errorf("%s: %s", k.name, got)
		}
		if strings.Contains(got, victim) != k.victim || strings.Contains(got, when) != k.victim {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}

// TestPauseHandedToKnownHost: the host at the other end of a link that had to pause is named where all that its tap shows is of it, though it may have sent on as far
// as messages tell; not where that tap shows others, too.
func TestPauseHandedToKnownHost(t *testing.T) {
	const ms = int64(time.Millisecond)
	const said = ", likely that to 10.0.0.3. What 10.0.0.3 sends to 10.0.0.4 in that priority waits too."
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	for _, more := range []bool{false, true} {
		var ports []link.Paused
		for n := range byte(2) {
			p := link.Paused{
				From: [6]byte{2, 0, 0, 0, 0, n}, Priority: 3, Tap: uint16(n), Time: 10 * ms, LastTime: 15 * ms, Frame: 7, LastFrame: 90, Frames: 2, Resumed: 1, Begun: 1,
				Least: 5 * time.Millisecond, Most: 5 * time.Millisecond, Longest: 5 * time.Millisecond,
				Each: []link.Lasting{{From: (10 + int64(n)) * ms, To: 15*ms + int64(n)*1000}},
			}
			if n == 1 {
				p.Unowned, p.Least, p.Most, p.Longest = true, 4*time.Millisecond, 4*time.Millisecond, 4*time.Millisecond
			}
			ports = append(ports, p)
		}
		ports[0].Hosts = []packet.Addr{host(2)}
		ports[1].Over = [][]packet.Addr{{host(2), host(4)}}
		r := &agent.Result{First: 1, Last: 50 * ms, RDMA: 1, Paused: ports}
		for n, way := range [][2]byte{{3, 4}, {3, 2}, {5, 2}} {
			c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1, FirstFrame: uint64(n + 1), Timing: timing.New(nil), FirstTap: 1}
			if n == 2 && !more {
				c.FirstTap = 0
			}
			c.Ends[0] = agent.End{Addr: host(way[0]), QPN: 17 + uint32(n), QPNKnown: true, Packets: 100, Messages: 100, Last: 50 * ms}
			c.Ends[1] = agent.End{Addr: host(way[1]), QPN: 27 + uint32(n), QPNKnown: true, Packets: 100, Last: 50 * ms}
			for at := ms / 2; at < 50*ms; at += ms / 2 {
				c.Timing.Ends[0].NoteSent(timing.Sent{Begin: at, End: at + 1000})
			}
			r.Connections = append(r.Connections, c)
		}
		if got := toldOf(r); strings.Contains(got, said) == more || !strings.Contains(got, "the switch had the other end of another link pause too") {
			t.Errorf("more hosts: %v: %s", more, got)
		}
	}
}
