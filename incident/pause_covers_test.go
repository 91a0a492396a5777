package incident

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

// TestPauseCovers: a pause that its port did not let go of tells of the interruptions in its time, and comes before losses, which name it first; one of other hosts, at another time, or one of many short ones does
// not.
func TestPauseCovers(t *testing.T) {
	ms := int64(time.Millisecond)
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	storm := link.Paused{
		Hosts: []packet.Addr{host(2)}, Priority: 3, Time: 100 * ms, Frame: 7, LastTime: 400 * ms, LastFrame: 900, Frames: 300, Begun: 1, Least: 9 * time.Millisecond,
		Most: 300 * time.Millisecond, Longest: 300 * time.Millisecond,
	}
	const fits = "the pause of what is sent to 10.0.0.2, see there: "
	for _, k := range []struct {
		name   string
		change func(p *link.Paused)
		stall  qp.Stall
		covers bool
	}{
		{"an interruption", nil, qp.Stall{Since: 99 * ms, Begun: 150 * ms, Last: 350 * ms, Ended: 401 * ms}, true},
		{"a loss when it ends", nil, qp.Stall{Since: 400 * ms, Begun: 402 * ms, Last: 402 * ms, Ended: 403 * ms}, true},
		{"what was sent by its host", func(p *link.Paused) { p.Hosts[0] = host(1) }, qp.Stall{Since: 99 * ms, Begun: 150 * ms, Last: 350 * ms, Ended: 401 * ms}, true},
		{"of another host", func(p *link.Paused) { p.Hosts[0] = host(3) }, qp.Stall{Since: 99 * ms, Begun: 150 * ms, Last: 350 * ms, Ended: 401 * ms}, false},
		{"before", nil, qp.Stall{Since: 20 * ms, Begun: 22 * ms, Last: 22 * ms, Ended: 23 * ms}, false},
		{"after", nil, qp.Stall{Since: 450 * ms, Begun: 550 * ms, Last: 550 * ms, Ended: 650 * ms}, false},
		{"for longer", nil, qp.Stall{Since: 300 * ms, Begun: 450 * ms, Last: 650 * ms, Ended: 700 * ms}, false},
		{"short ones", func(p *link.Paused) { p.Begun, p.Most, p.Longest = 100, 20*time.Millisecond, time.Millisecond }, qp.Stall{Since: 99 * ms, Begun: 150 * ms, Last: 350 * ms, Ended: 401 * ms}, false},
		{"the longest of several", func(p *link.Paused) {
			p.LastTime, p.Begun, p.LongestSince = 2000*ms, 3, 100*ms
		}, qp.Stall{Since: 99 * ms, Begun: 150 * ms, Last: 350 * ms, Ended: 401 * ms}, true},
		{"not the longest of several", func(p *link.Paused) {
			p.LastTime, p.Begun, p.LongestSince = 2000*ms, 3, 1500*ms
		}, qp.Stall{Since: 99 * ms, Begun: 150 * ms, Last: 350 * ms, Ended: 401 * ms}, false},
		{"far between", func(p *link.Paused) { p.Begun, p.Most, p.Longest = 5, 100*time.Millisecond, 20*time.Millisecond }, qp.Stall{Since: 99 * ms, Begun: 150 * ms, Last: 350 * ms, Ended: 401 * ms}, false},
	} {
		p := storm
		p.Hosts = []packet.Addr{host(2)}
		if k.change != nil {
			k.change(&p)
		}
		k.stall.Rounds[qp.TimerExpired] = 3
		r := &agent.Result{First: 1, Last: 1000 * ms, RDMA: 1, Paused: []link.Paused{p}}
		c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1}
		c.Ends[0] = agent.End{Addr: host(1), QPN: 16, QPNKnown: true, Packets: 100, Messages: 100, Last: 1000 * ms}
		c.Ends[1] = agent.End{Addr: host(2), QPN: 17, QPNKnown: true, Packets: 100, Last: 1000 * ms}
		c.Ends[0].Trouble = &qp.Trouble{Now: k.stall}
		r.Connections = append(r.Connections, c)
		list := Of(r)
		if k.covers && len(list) == 1 {
			const stopped = " Meanwhile nothing that 10.0.0.1 QP 0x10 sent to 10.0.0.2 QP 0x11 was answered for 302ms; then it went on."
			what, fact := stopped, "10.0.0.1 QP 0x10, which waited for 10.0.0.2 QP 0x11, for 302ms"
			if p.Hosts[0] == host(1) { // nobody is read to be at fault that sent answers
				what = " Meanwhile 10.0.0.1 QP 0x10 had no answers of 10.0.0.2 QP 0x11, which it held back itself, for 302ms; then it went on."
				fact = "10.0.0.1 QP 0x10, as answers of 10.0.0.2 QP 0x11 were held back, for 302ms"
			}
			if i := &list[0]; i.Kind != Paused || !strings.HasSuffix(i.What, what) || i.Facts[0] != (Fact{"stopped", fact}) {
				t.Errorf("%s: %s, %+v", k.name, i.What, i.Facts)
			}
			continue
		}
		if len(list) != 2 {
			t.Errorf("%s: %+v", k.name, list)
			continue
		}
		first, other := &list[0], &list[1]
		if k.covers != (first.Kind == Paused) {
			t.Errorf("%s: %v comes first", k.name, first.Kind)
		}
		if first.Kind != Paused {
			other = first
		}
		if got := strings.Join(other.FitsWith, "; or "); k.covers != strings.Contains(got, fits) && (!k.covers || !strings.HasPrefix(got, "the pause of what is sent to 10.0.0.1, see there: ")) {
			t.Errorf("%s: fits %q", k.name, got)
		}
	}
}

// stopped is a connection of which nothing was answered from 99 ms on; ended at 0: until the capture ended.
func stopped(from, to byte, ended int64) agent.Connection {
	const ms = int64(time.Millisecond)
	c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1}
	s := qp.Stall{Since: 99 * ms, Begun: 150 * ms, Last: 350 * ms, Ended: ended * ms}
	s.Rounds[qp.TimerExpired] = 3
	c.Ends[0] = agent.End{
		Addr: packet.IPv4Addr([]byte{10, 0, 0, from}), QPN: 16 + uint32(to), QPNKnown: true, Packets: 100, Messages: 100, Last: 1000 * ms, Trouble: &qp.Trouble{Now: s}, Stalled: ended == 0,
	}
	c.Ends[1] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, to}), QPN: 17, QPNKnown: true, Packets: 100, Last: 1000 * ms}
	return c
}

// pausedUntil is what happened on connections while a port had the other end pause, whose host is 10.0.0.9 or not known.
func pausedUntil(last int64, known bool, list ...agent.Connection) []Incident {
	const ms = int64(time.Millisecond)
	p := link.Paused{Priority: 3, Time: 100 * ms, Frame: 7, LastTime: last * ms, LastFrame: 900, Frames: 300, Begun: 1, Least: 9 * time.Millisecond, Held: last == 1000}
	if p.Most = time.Duration(p.LastTime - p.Time); known {
		p.Hosts = []packet.Addr{packet.IPv4Addr([]byte{10, 0, 0, 9})}
	}
	p.Longest = p.Most
	return Of(&agent.Result{First: 1, Last: 1000 * ms, RDMA: 1, Connections: list, Paused: []link.Paused{p}})
}

// TestPauseStops: a pause tells once of all that made no progress meanwhile, with what to look at, and that what was never answered was not.
func TestPauseStops(t *testing.T) {
	list := pausedUntil(400, true, stopped(1, 9, 401), stopped(2, 9, 405))
	const longest = "Meanwhile nothing that 10.0.0.2 QP 0x19 sent to 10.0.0.9 QP 0x11 was answered for 306ms, the longest of 2 connections that stopped; then it went on."
	const each = "10.0.0.2 QP 0x19, which waited for 10.0.0.9 QP 0x11, for 306ms; 10.0.0.1 QP 0x19, which waited for 10.0.0.9 QP 0x11, for 302ms"
	if len(list) != 1 || list[0].Kind != Paused || !strings.HasSuffix(list[0].What, longest) || list[0].Facts[0].Text != each {
		t.Fatalf("%+v", list)
	}
	next := strings.Join(list[0].Next, "; ")
	for _, want := range []string{"ethtool -S: tx_prio3_pause there, rx_prio3_pause at the other end", "PFC watchdog", "lspci -vv"} {
		if !strings.Contains(next, want) {
			t.Errorf("%q lacks %q", next, want)
		}
	}
	list = pausedUntil(1000, true, stopped(1, 9, 0))
	if len(list) != 2 || list[1].Kind != Unanswered || !strings.HasSuffix(list[0].What, "Meanwhile nothing that 10.0.0.1 QP 0x19 sent to 10.0.0.9 QP 0x11 was answered for 901ms; it never was.") {
		t.Errorf("never answered: %+v", list)
	}
	if list = pausedUntil(400, true, stopped(1, 9, 0)); strings.Contains(list[0].What+list[1].What, "Meanwhile") {
		t.Errorf("lasts longer: %+v", list)
	}
}

// TestPauseOfSwitch: of a pause by a port that no packets go to, it is known who waits where all that the tap shows is from or to one host, or between two.
func TestPauseOfSwitch(t *testing.T) {
	list := pausedUntil(400, false, stopped(1, 9, 401), stopped(1, 8, 402))
	if len(list) != 1 || !strings.Contains(list[0].What, "Meanwhile nothing that 10.0.0.1 QP 0x18 sent to 10.0.0.8 QP 0x11 was answered for 303ms, the longest of 2 connections") {
		t.Errorf("%+v", list)
	}
	list = pausedUntil(400, false, stopped(1, 9, 401))
	if len(list) != 1 || !list[0].says("stops") || !strings.Contains(list[0].What, "Meanwhile nothing that 10.0.0.1 QP 0x19") {
		t.Errorf("%+v", list)
	}
	for n, i := range pausedUntil(400, false, stopped(1, 9, 401), stopped(2, 8, 402)) {
		if i.Kind == Paused && (n == 0 || strings.Contains(i.What, "Meanwhile")) {
			t.Error(i.What)
		}
	}
}

// TestPauseUnsent: a pause tells who sent no request meanwhile, as measured, and went on when it had ended; not who went on before, or was quiet for as long at other times or for much longer, and not where
// requests wait.
func TestPauseUnsent(t *testing.T) {
	at := func(ms int) int64 { return int64(ms) * int64(time.Millisecond) }
	measured := func(stop, again, each int) *timing.Connection {
		c, p, psn := timing.New(nil), &qp.Pair{Service: packet.RC, Paired: true}, packet.PSN(0)
		for k := range p.Ends {
			p.Ends[k].Direction = qp.NewDirection()
		}
		for ms := 1; ms < 1000; ms += each {
			if ms > stop && ms < again {
				continue
			}
			psn++
			c.Packet(p, 0, &packet.Packet{Opcode: packet.Op(packet.RC, packet.SendOnly), PSN: psn, Time: at(ms)})
		}
		return c
	}
	for _, k := range []struct {
		name              string
		stop, again, each int
		told              bool
	}{
		{"meanwhile", 100, 401, 1, true},
		{"up to the pause", 2, 100, 1, false},
		{"from its end on", 401, 700, 1, false},
		{"it went on", 100, 350, 1, false},
		{"shortly", 350, 401, 1, false},
		{"long before", 2, 401, 1, false},
		{"seldom", 100, 401, 50, false},
		{"never", 0, 0, 1, false},
	} {
		c := stopped(1, 9, 401)
		c.Ends[0].Trouble, c.Timing = nil, measured(k.stop, k.again, k.each)
		list := pausedUntil(400, false, c)
		if len(list) != 1 || strings.HasSuffix(list[0].What, " Meanwhile 10.0.0.1 QP 0x19 sent no request for 301ms, and went on then.") != k.told || !k.told && strings.Contains(list[0].What, "Meanwhile") {
			t.Errorf("%s: %+v", k.name, list)
		}
	}
	c := stopped(1, 9, 401)
	c.Timing = measured(100, 401, 1)
	if list := pausedUntil(400, false, c); len(list) != 1 || strings.Contains(list[0].What, "sent no request") {
		t.Errorf("requests wait: %+v", list)
	}
}
