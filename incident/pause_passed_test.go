package incident_test

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/link"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/timing"
)

// TestPausePassedOnTwice: pauses that two switches pass on one after the other are told with the port that they come from, in whatever order.
func TestPausePassedOnTwice(t *testing.T) {
	var ports []link.Paused
	for n := range 3 {
		p := link.Paused{From: [6]byte{2, 0, 0, 0, 0, byte(n)}, Priority: 3, Frame: uint64(7 + n), LastFrame: 900, Frames: 3000, Begun: 3, Least: time.Millisecond, Most: 500 * time.Millisecond, Longest: 300 * time.Millisecond}
		p.Time, p.LastTime = second(1)+int64(n)*int64(3*time.Millisecond), second(2)
		ports = append(ports, p)
	}
	for _, order := range [][]int{{0, 1, 2}, {1, 0, 2}, {2, 1, 0}, {1, 2, 0}} {
		var list []link.Paused
		for _, n := range order {
			list = append(list, ports[n])
		}
		got := toldOf(&agent.Result{Last: second(3), Paused: list})
		for _, want := range []string{"The port with Ethernet address 02:00:00:00:00:00", "02:00:00:00:00:01 began 3ms later", "02:00:00:00:00:02 began 6ms later"} {
			if strings.Count(got, "had the other end of its link pause") != 1 || !strings.Contains(got, want) {
				t.Errorf("%v: %s\nwant %q", order, got, want)
			}
		}
	}
}

// TestPausePassedOn: the pauses of a port which no host is known to have, as many, as long, and each a little later than those of another, are told with those; not where they are of a host, or are others.
func TestPausePassedOn(t *testing.T) {
	const ms = time.Millisecond
	first := link.Paused{
		From: [6]byte{2, 0, 0, 0, 0, 1}, Hosts: []packet.Addr{packet.IPv4Addr([]byte{10, 0, 0, 1})}, Priority: 3, Time: second(1), Frame: 7, LastTime: second(2), LastFrame: 900, Frames: 3000, Begun: 3, Least: 69 * ms, Most: 551 * ms, Longest: 341 * ms,
	}
	const said = "passed on: to the senders, as often and as long, by the port with Ethernet address 02:00:00:00:00:02 began 400µs later"
	for _, k := range []struct {
		name   string
		change func(q *link.Paused)
		want   bool
	}{
		{"passed on", func(*link.Paused) {}, true},
		{"of a host", func(q *link.Paused) { q.Hosts = first.Hosts }, false},
		{"another priority", func(q *link.Paused) { q.Priority = 4 }, false},
		{"longer", func(q *link.Paused) { q.Most *= 2 }, false},
		{"more often", func(q *link.Paused) { q.Begun++ }, false},
		{"much later", func(q *link.Paused) { q.Time += int64(20 * ms) }, false},
		{"at another tap", func(q *link.Paused) { q.Tap = 1 }, false},
	} {
		q := first
		q.From, q.Hosts, q.Time, q.Frame, q.LastTime, q.Most = [6]byte{2, 0, 0, 0, 0, 2}, nil, first.Time+int64(400*time.Microsecond), 9, first.LastTime-int64(ms), 550*ms
		k.change(&q)
		for _, list := range [][]link.Paused{{first, q}, {q, first}} {
			got := toldOf(&agent.Result{Last: second(3), Paused: list})
			if strings.Contains(got, said) != k.want || strings.Count(got, "had the other end of its link pause") != map[bool]int{true: 1, false: 2}[k.want] {
				t.Errorf("%s: %s", k.name, got)
			}
		}
	}
}

// TestPauseSpreads: a port of a switch whose long pauses begin while those of a host last, and end with them, is told with these, and so is what other hosts waited for meanwhile; not where it pauses at another
// time, ends long before, or is of a host: what others waited for is told by itself then. What waits for the host in another pause than the longest is told with them too.
func TestPauseSpreads(t *testing.T) {
	const ms = int64(time.Millisecond)
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	lasting := func(times ...int64) (list []link.Lasting) {
		for k := 0; k < len(times); k += 2 {
			list = append(list, link.Lasting{From: times[k] * ms, To: times[k+1] * ms})
		}
		return list
	}
	port := func(n byte, long []link.Lasting) link.Paused {
		p := link.Paused{From: [6]byte{2, 0, 0, 0, 0, n}, Priority: 3, Time: long[0].From, LastTime: long[len(long)-1].To, Frame: 7 + uint64(n), LastFrame: 900, Frames: 900, Begun: uint64(len(long)), Least: 9 * time.Millisecond, Long: long}
		for _, s := range long {
			d := time.Duration(s.To - s.From)
			if p.Most += d; d > p.Longest {
				p.Longest, p.LongestSince = d, s.From
			}
		}
		return p
	}
	const said = " The switch then had the other end of another link pause too. Meanwhile nothing that 10.0.0.3 QP 0x12 sent to 10.0.0.4"
	for _, k := range []struct {
		name   string
		change func(q *link.Paused)
		want   bool
	}{
		{"spreads", func(*link.Paused) {}, true},
		{"at another time", func(q *link.Paused) { q.Long = lasting(150, 400, 1200, 1400) }, false},
		{"ends long before", func(q *link.Paused) { q.Long = lasting(150, 300, 1750, 1900) }, false},
		{"of a host", func(q *link.Paused) { q.Unowned, q.Hosts = false, []packet.Addr{host(7)} }, false},
		{"mostly short", func(q *link.Paused) { q.Most *= 2 }, false},
	} {
		p, q := port(1, lasting(100, 400, 1700, 1900)), port(2, lasting(150, 401, 1750, 1899))
		p.Hosts, q.Unowned = []packet.Addr{host(2)}, true
		k.change(&q)
		r := &agent.Result{First: 1, Last: 3000 * ms, RDMA: 1, Paused: []link.Paused{p, q}}
		for n, to := range []byte{2, 4} { // from another host to it in the second pause, and to a third in the first one
			c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1, FirstFrame: uint64(n + 1)}
			c.Ends[0] = agent.End{Addr: host(3), QPN: 17 + uint32(n), QPNKnown: true, Packets: 100, Messages: 100, Last: 2900 * ms}
			c.Ends[1] = agent.End{Addr: host(to), QPN: 27 + uint32(n), QPNKnown: true, Packets: 100, Last: 2900 * ms}
			since := [2]int64{1705 * ms, 155 * ms}[n]
			s := qp.Stall{Since: since, Begun: since + 50*ms, Last: since + 150*ms, Ended: since + 190*ms}
			s.Rounds[qp.TimerExpired] = 3
			c.Ends[0].Trouble = &qp.Trouble{Now: s}
			r.Connections = append(r.Connections, c)
		}
		r.Connections = append(r.Connections, agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1, FirstFrame: 3, Ends: [2]agent.End{{Addr: host(5), QPN: 9, QPNKnown: true}, {Addr: host(6), QPN: 9, QPNKnown: true}}})
		got := toldOf(r)
		if strings.Contains(got, said) != k.want || strings.Contains(got, "spread: the port with Ethernet address 02:00:00:00:00:02 began 50ms later") != k.want || strings.Contains(got, "interrupted (") == k.want || strings.Count(got, "had the other end of its link pause") != map[bool]int{true: 1, false: 2}[k.want] {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}

// TestPauseSpreadsOverTaps: the pauses of a switch before a host that pauses, which another tap shows, are told with those of the host, and what goes to others over that link waits too, if it did; not where packets for the
// host do not go over that link, where its pauses are at other times, or where packets for a host go to its address; and of those others only who sent nothing in the time of the pauses, and did before and after.
func TestPauseSpreadsOverTaps(t *testing.T) {
	const ms = int64(time.Millisecond)
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	lasting := func(from int64) []link.Lasting {
		return []link.Lasting{{From: from * ms, To: 400 * ms}, {From: (750 + from) * ms, To: 900 * ms}}
	}
	port := func(n byte, long []link.Lasting) link.Paused {
		most := time.Duration(long[0].To - long[0].From + long[1].To - long[1].From)
		return link.Paused{From: [6]byte{2, 0, 0, 0, 0, n}, Priority: 3, Time: long[0].From, LastTime: 900 * ms, Frame: 7, LastFrame: 900, Frames: 900, Begun: 2, Least: 9 * time.Millisecond, Most: most, Longest: 300 * time.Millisecond, LongestSince: long[0].From, Long: long}
	}
	const (
		spread = "spread: the port with Ethernet address 02:00:00:00:00:02 at tap 0 (packets for 10.0.0.4 go over that link too) began 5ms later each time: each of its long pauses began while one of these lasted, and ended with it; likely a switch, whose buffer fills with what waits for 10.0.0.2"
		victim = " The switch then had the other end of another link pause too. What goes to 10.0.0.4 waited too, for up to 301ms."
		which  = "victims: 10.0.0.3 QP 0x12 to 10.0.0.4 for 301ms: no request was sent, and these hosts do not pause; such came much more often before and after"
	)
	for _, k := range []struct {
		name          string
		change        func(q *link.Paused)
		stops         bool // what goes to the other host
		spread, waits bool
	}{
		{"spreads", func(*link.Paused) {}, true, true, true},
		{"others go on", func(*link.Paused) {}, false, true, false},
		{"over the link of one host", func(q *link.Paused) { q.Over, q.Least = nil, q.Most }, true, true, true},
		{"another link", func(q *link.Paused) { q.Over = [][]packet.Addr{{host(4), host(5)}} }, true, false, false},
		{"nobody else over it", func(q *link.Paused) { q.Over = [][]packet.Addr{{host(2)}} }, true, false, false},
		{"at another time", func(q *link.Paused) {
			q.Long = []link.Lasting{{From: 105 * ms, To: 400 * ms}, {From: 500 * ms, To: 600 * ms}}
		}, true, false, false},
		{"of a host", func(q *link.Paused) { q.Unowned, q.Hosts = false, []packet.Addr{host(4)} }, true, false, false},
	} {
		p, q := port(1, lasting(100)), port(2, lasting(105))
		p.Hosts, p.Tap = []packet.Addr{host(2)}, 1
		q.Unowned, q.Over = true, [][]packet.Addr{{host(2), host(4)}}
		k.change(&q)
		c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1, FirstFrame: 1, Timing: timing.New(nil)}
		c.Ends[0] = agent.End{Addr: host(3), QPN: 18, QPNKnown: true, Packets: 100, Messages: 100, Last: 1000 * ms}
		c.Ends[1] = agent.End{Addr: host(4), QPN: 28, QPNKnown: true, Packets: 100, Last: 1000 * ms}
		pair, psn := &qp.Pair{Service: packet.RC, Paired: true}, packet.PSN(0)
		for e := range pair.Ends {
			pair.Ends[e].Direction = qp.NewDirection()
		}
		for at := int64(1); at < 1000; at++ {
			if k.stops && at > 100 && at < 401 {
				continue
			}
			psn++
			c.Timing.Packet(pair, 0, &packet.Packet{Opcode: packet.Op(packet.RC, packet.SendOnly), PSN: psn, Time: at * ms})
		}
		list, waited := []agent.Connection{c}, victim
		if q.Over == nil {
			to := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1, FirstFrame: 2}
			to.Ends[0], to.Ends[1] = agent.End{Addr: host(3), QPN: 19, QPNKnown: true}, agent.End{Addr: host(2), QPN: 29, QPNKnown: true}
			list = append(list, to)
			waited = strings.Replace(victim, "too.", "too: 10.0.0.3 twice, for 340ms in all (what it sends to 10.0.0.4 in that priority waits too).", 1)
		}
		for _, ports := range [][]link.Paused{{p, q}, {q, p}} {
			got := toldOf(&agent.Result{First: 1, Last: 1000 * ms, RDMA: 1, Paused: ports, Connections: list})
			if strings.Contains(got, spread) != k.spread || strings.Contains(got, waited) != k.waits || strings.Contains(got, which) != k.waits || strings.Count(got, "had the other end of its link pause") != map[bool]int{true: 1, false: 2}[k.spread] {
				t.Errorf("%s: %s", k.name, got)
			}
		}
	}
}
