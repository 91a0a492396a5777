package incident

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/timing"
)

// TestLostClass: an incident of losses says that all which was lost has one DSCP, where what has another one lost nothing; not where all have one, the lost ones several, one of the lossy class
// loses nothing, or the others sent too little to tell.
func TestLostClass(t *testing.T) {
	const told = "What was lost has DSCP 0; what has DSCP 26, "
	for _, k := range []struct {
		name  string
		dscp  [4]uint8 // of the hosts 1 to 3, which lose packets on the way to host 9, and of host 4, which does not
		clean uint64   // packets of that
		want  bool
	}{
		{"another class", [4]uint8{0, 0, 0, 26}, 9000, true},
		{"the same class", [4]uint8{26, 26, 26, 26}, 9000, false},
		{"several that lose packets", [4]uint8{0, 8, 0, 26}, 9000, false},
		{"too few packets", [4]uint8{0, 0, 0, 26}, 50, false},
	} {
		r := &agent.Result{First: 1, Last: int64(time.Second), RDMA: 1}
		for n, dscp := range k.dscp {
			s := lossScene{from: byte(n + 1), to: 9, before: 12, packets: 900}
			if n == 3 {
				s.before, s.packets = 0, k.clean
			}
			c := s.connection(n)
			for e := range c.Ends {
				c.Ends[e].Path = agent.Path{Known: true, DSCP: dscp}
			}
			r.Connections = append(r.Connections, c)
		}
		list := Of(r)
		if got := strings.Contains(list[0].What, told); got != k.want || got != slices.ContainsFunc(list[0].FitsWith, func(s string) bool { return strings.HasPrefix(s, "a traffic class without flow control") }) {
			t.Errorf("%s: %+v", k.name, list[0])
		}
	}
}

// TestLostNotECT: where a sender that is not ECN-capable loses packets, and what others send to the same host is marked and lost nothing, that is told, of one connection, too; not where nothing was marked, or
// the sender is ECN-capable.
func TestLostNotECT(t *testing.T) {
	const told = "10.0.0.1 sends it as not ECN-capable (ECN 00, Not-ECT): a queue that marks what is ECN-capable drops this"
	for _, k := range []struct {
		name   string
		notECT bool
		marked uint64
		want   bool
	}{{"not capable", true, 300, true}, {"capable", false, 300, false}, {"no marks", true, 0, false}} {
		r := &agent.Result{First: 1, Last: int64(time.Second), RDMA: 1}
		for n := range 2 {
			s := lossScene{from: byte(n + 1), to: 9, before: 58, packets: 900}
			if n == 1 {
				s.before, s.packets = 0, 9000
			}
			c := s.connection(n)
			c.Timing = &timing.Connection{}
			for e := range c.Ends {
				c.Ends[e].Path = agent.Path{Known: true, DSCP: 26}
			}
			c.Ends[0].NotECT, c.Ends[0].ECNCapable = n == 0 && k.notECT, n == 1 || !k.notECT
			if n == 1 {
				c.Timing.Ends[0].Marked = k.marked
			}
			r.Connections = append(r.Connections, c)
		}
		list := Of(r)
		if got := slices.ContainsFunc(list, func(i Incident) bool {
			return strings.Contains(i.What, told) && strings.Contains(i.Next[0], "as 106 in place of 104")
		}); got != k.want {
			t.Errorf("%s: %+v", k.name, list)
		}
	}
}

// TestNeverCaptured: of a host that several others ask, and of which the capture holds nothing, no request is told to wait where nothing is retransmitted; it is where one retransmits, or only one host asks it.
func TestNeverCaptured(t *testing.T) {
	for _, k := range []struct {
		name  string
		hosts int
		after uint32 // that one lost
		want  bool
	}{{"of several", 2, 0, true}, {"of one", 1, 0, false}, {"one retransmits", 2, 3, false}} {
		r := &agent.Result{}
		for n := range k.hosts {
			s := lossScene{from: byte(n + 1), to: 9, packets: 20, after: k.after * uint32(n)}
			c := s.connection(n)
			c.Ends[1].Packets, c.Ends[1].Messages = 0, 0
			r.Connections = append(r.Connections, c)
		}
		x := &teller{run: r, hosts: map[packet.Addr]host{}}
		if got := x.neverCaptured(&r.Connections[0], 0); got != k.want {
			t.Errorf("%s: %t", k.name, got)
		}
	}
}

// TestStallOfLosses: a stall of one round that was answered at once is part of the losses of its connections, where timers ended several; not where it took several rounds.
func TestStallOfLosses(t *testing.T) {
	const ms = int64(time.Millisecond)
	for _, k := range []struct {
		name   string
		rounds uint32
		timers uint32 // of the connections
		want   int    // incidents
	}{{"one of several", 1, 3, 1}, {"of several rounds", 3, 3, 2}, {"the only one", 1, 1, 2}} {
		r := &agent.Result{First: 1, Last: int64(time.Second), RDMA: 1}
		for n := range 2 {
			s := lossScene{from: byte(n + 1), to: 9, before: 6, packets: 900}
			if n == 0 {
				s.stall = &qp.Stall{Since: 100 * ms, Begun: 280 * ms, Last: 280 * ms, Ended: 280*ms + 5000, Request: qp.StalledRequest{Frame: 7}, Packets: 1}
				s.stall.Rounds[qp.TimerExpired] = k.rounds
			}
			c := s.connection(n)
			c.Ends[0].Trouble.Sum.Rounds[qp.TimerExpired] = k.timers * uint32(1-n)
			r.Connections = append(r.Connections, c)
		}
		clean := lossScene{from: 4, to: 9, packets: 9000}
		r.Connections = append(r.Connections, clean.connection(3))
		if list := Of(r); len(list) != k.want {
			t.Errorf("%s: %d incidents, want %d: %+v", k.name, len(list), k.want, list)
		}
	}
}

// TestAsLongAsTimer: a command that took as long as the timer of its server has requests wait is none of the slow ones; one that took longer, or where the timer expired once only, is.
func TestAsLongAsTimer(t *testing.T) {
	const ms = int64(time.Millisecond)
	for _, k := range []struct {
		name   string
		took   int64
		timers int
		want   bool
	}{{"as long", 2620 * ms, 3, true}, {"longer", 3900 * ms, 3, false}, {"shorter", 900 * ms, 3, false}, {"one timer", 2620 * ms, 1, false}} {
		s := lossScene{from: 1, to: 9, before: 6, packets: 900}
		c := s.connection(0)
		for n := range k.timers {
			l := &c.Ends[0].Trouble.Longest[n]
			*l = qp.Stall{Since: int64(n+1) * 10000 * ms, Begun: int64(n+1)*10000*ms + 2600*ms, Last: int64(n+1)*10000*ms + 2600*ms, Ended: int64(n+1)*10000*ms + 2600*ms + 5000}
			l.Rounds[qp.TimerExpired] = 1
		}
		r := &agent.Result{Connections: []agent.Connection{c}}
		o := &agent.Operation{Since: 5000 * ms, Ended: 5000*ms + k.took, From: 1}
		if got := (&teller{run: r}).asLongAsTimer(&r.Connections[0], o); got != k.want {
			t.Errorf("%s: %v", k.name, got)
		}
	}
}
