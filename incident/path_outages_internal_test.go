package incident

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/timing"
)

const pathMs = int64(time.Millisecond)

// onPath is a connection between two of several hosts, on which both ends send all the time of 20 s.
func onPath(n int, from, to byte) agent.Connection {
	c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1, Timing: &timing.Connection{}}
	for e, host := range []byte{from, to} {
		c.Ends[e] = agent.End{
			Addr: packet.IPv4Addr([]byte{10, 0, 0, host}), QPN: uint32(n + 16*(e+1)), QPNKnown: true, Packets: 900, Messages: 400, Last: 20000 * pathMs,
			Path: agent.Path{Known: true, Port: uint16(50000 + 1000*e + n)},
		}
		c.Timing.Ends[e].Active = timing.Activity{First: 1, Last: 20000 * pathMs}
		c.Timing.Ends[e].Series = timing.Series{Width: 250 * pathMs, Slots: make([]timing.Slot, 80)}
	}
	return c
}

// waitsAt has what an end of a connection sent wait from one time to another, ms, in so many rounds of its timer.
func waitsAt(c *agent.Connection, from int, since, until int64, rounds uint32) {
	e := &c.Ends[from]
	if e.Trouble == nil {
		e.Trouble = &qp.Trouble{}
	}
	k := e.Trouble
	s := qp.Stall{Since: since * pathMs, Begun: (since + 200) * pathMs, Last: (until - 1) * pathMs, Ended: until * pathMs, Packets: rounds, Request: qp.StalledRequest{Frame: uint64(since)}}
	s.Rounds[qp.TimerExpired] = rounds
	s.Frames = qp.StallFrames{Begun: [3]uint64{uint64(since) + 1}, Last: uint64(until) - 1, Ended: uint64(until)}
	k.Longest[k.Sum.Count] = s
	k.Sum.Count, k.Sum.Long = k.Sum.Count+1, k.Sum.Long+1
	k.Sum.Rounds[qp.TimerExpired] += rounds
	k.Sum.Begun, k.Sum.Last, k.Sum.Lost = s.Begun, s.Last, k.Sum.Lost+s.Lost()
	k.Again.Packets += uint64(rounds)
	c.Timing.Ends[from].Series.Slots[(until-1)/250].Retransmitted++
}

// unansweredFrom is a connection a request of which, sent at a time, ms, was retransmitted until another, and never answered.
func unansweredFrom(since, until int64) agent.Connection {
	c := onPath(4, 1, 2)
	waitsAt(&c, 0, since, until, 3)
	e := &c.Ends[0]
	e.Trouble.Now, e.Trouble.Longest[0], e.Trouble.Sum, e.Stalled = e.Trouble.Longest[0], qp.Stall{}, qp.Stalls{}, true
	e.Trouble.Now.Ended = 0
	for e := range c.Ends {
		c.Ends[e].Last, c.Timing.Ends[e].Active.Last = (until-1)*pathMs, (until-1)*pathMs
	}
	return c
}

// TestPathOutages: stalls of several connections that are at the same times again and again, while others of the same hosts go on, are outages of one path, with who was hit and who was not, and a connection that did not
// outlast one; not where there is one such time, where no other goes on, where they are at different times, where the first retransmission is answered each time, or where something else explains them.
func TestPathOutages(t *testing.T) {
	const told = "2 outages, from +1.000 s and +6.020 s on, each for 580ms to 600ms, held up 2 connections, two or more in each, while 1 other connection of the same hosts went on: likely one path of several that fails and comes back (a member of a LAG or ECMP group)."
	at := func(r *agent.Result, n int, times ...int64) {
		for k := 0; k < len(times); k += 2 {
			waitsAt(&r.Connections[n], 0, times[k], times[k+1], 2)
		}
	}
	hit := func(r *agent.Result) {
		at(r, 0, 1000, 1600, 6020, 6700)
		at(r, 1, 1010, 1800, 6050, 6600)
	}
	for _, k := range []struct {
		name  string
		set   func(r *agent.Result)
		want  string
		facts []string
	}{
		{"two connections of three", hit, told, []string{
			"hit: what one end sent on 2 connections, which had passed the tap, was lost after it or not answered (UDP source ports 50000, 50001 from 10.0.0.1 to 10.0.0.2); what the other end sent on them came to the tap meanwhile",
			"not hit: 1 connection between the same hosts, which sent in each of these times that fell into theirs, and retransmitted nothing (UDP source port 50002 from 10.0.0.1 to 10.0.0.2; UDP source port 51002 from 10.0.0.2 to 10.0.0.1); nor was 1 connection of 10.0.0.3 with 10.0.0.2",
			"cost: 8 packets retransmitted, 0 bytes of payload, all in these times or near them",
		}},
		{"and one that did not outlast it", func(r *agent.Result) {
			hit(r)
			d, next := onPath(4, 1, 2), onPath(5, 1, 2)
			for e := range d.Ends {
				d.Ends[e].Last, d.Timing.Ends[e].Active.Last = 980*pathMs, 980*pathMs
			}
			d.Closed = agent.Closed{By: d.Ends[0].Addr, At: 3000 * pathMs, Frame: 3000}
			next.First, next.FirstFrame = 2500*pathMs, 2500
			r.Connections = append(r.Connections, d, next)
		}, told, []string{
			"lost: 10.0.0.1 QP 0x14 with 10.0.0.2 QP 0x24, which carries nothing after +0.980 s; the next connection between these hosts began at +2.500 s, in frame 2500, and 10.0.0.1 disconnected this one at +3.000 s, in frame 3000",
		}},
		{"and one whose request was never answered", func(r *agent.Result) {
			hit(r)
			r.Connections = append(r.Connections, unansweredFrom(6030, 6690), onPath(5, 1, 2))
			r.Connections[5].First, r.Connections[5].FirstFrame = 8000*pathMs, 8000
		}, told, []string{
			"lost: 10.0.0.1 QP 0x14 with 10.0.0.2 QP 0x24, on which a request of 10.0.0.1 at +6.030 s was never answered, though retransmitted in 3 rounds until +6.689 s; the next connection between these hosts began at +8.000 s, in frame 8000",
		}},
		{"three times, and one shows nothing in them, another went on with a later PSN", func(r *agent.Result) {
			hit(r)
			at(r, 0, 12000, 12600)
			quiet, before := onPath(4, 1, 2), onPath(5, 2, 1)
			for e := range 2 {
				quiet.Timing.Ends[e].Active.Silences = []timing.Silence{{From: 950 * pathMs, To: 1700 * pathMs}, {From: 6000 * pathMs, To: 6500 * pathMs}, {From: 12010 * pathMs, To: 12700 * pathMs}}
			}
			before.Ends[0].Trouble = &qp.Trouble{}
			before.Ends[0].Trouble.Longest[0] = qp.Stall{Since: 11900 * pathMs, Begun: 11900 * pathMs, Last: 11900 * pathMs, Ended: 12550 * pathMs, Before: true, Frames: qp.StallFrames{Ended: 12550}}
			r.Connections = append(r.Connections, quiet, before)
		}, "3 outages, from +1.000 s, +6.020 s and +12.000 s on, each for 550ms to 600ms, held up 3 connections, two or more in each, while 1 other connection of the same hosts went on: likely one path of several that fails and comes back (a member of a LAG or ECMP group).", []string{
			"hit: on 1 connection nothing came to the tap, and then one end went on with a later PSN (UDP source port 50005 from 10.0.0.2 to 10.0.0.1): it was lost on the way to the tap",
			"silent: nothing at all of 1 connection came to the tap in most of each of these times (UDP source port 50004 from 10.0.0.1 to 10.0.0.2)",
		}},
		{"once, on three connections of five", func(r *agent.Result) {
			at(r, 0, 1000, 1600)
			at(r, 1, 1010, 1800)
			r.Connections = append(r.Connections, onPath(4, 2, 1), onPath(5, 1, 2))
			at(r, 4, 1100, 1650)
		}, "An outage at +1.000 s, for up to 600ms, held up 3 connections, while 2 other connections of the same hosts went on: likely one path of several that failed and came back (a member of a LAG or ECMP group).", nil},
		{"once, on three connections of four", func(r *agent.Result) {
			at(r, 0, 1000, 1600)
			at(r, 1, 1010, 1800)
			r.Connections = append(r.Connections, onPath(4, 2, 1))
			at(r, 4, 1100, 1650)
		}, "", nil},
		{"once, on two connections and one that lost a packet by chance", func(r *agent.Result) {
			at(r, 0, 1000, 1600)
			at(r, 1, 1010, 1800)
			r.Connections = append(r.Connections, onPath(4, 2, 1), onPath(5, 1, 2))
			waitsAt(&r.Connections[4], 0, 1100, 1650, 1)
		}, "", nil},
		{"once", func(r *agent.Result) { at(r, 0, 1000, 1600); at(r, 1, 1010, 1800) }, "", nil},
		{"one connection", func(r *agent.Result) { at(r, 0, 1000, 1600, 6020, 6700) }, "", nil},
		{"at different times", func(r *agent.Result) {
			at(r, 0, 1000, 1600, 6020, 6700)
			at(r, 1, 2010, 2800, 7050, 7600)
		}, "", nil},
		{"mostly at different times", func(r *agent.Result) {
			hit(r)
			at(r, 0, 9000, 9600)
			at(r, 1, 12000, 12600)
		}, "", nil},
		{"the first retransmission is answered", func(r *agent.Result) {
			for n := range 2 {
				waitsAt(&r.Connections[n], 0, 1000, 1600, 1)
				waitsAt(&r.Connections[n], 0, 6000, 6600, 1)
			}
		}, "", nil},
		{"all are held up", func(r *agent.Result) { hit(r); at(r, 2, 1005, 1700, 6030, 6650) }, "", nil},
		{"the other sends nothing then", func(r *agent.Result) {
			hit(r)
			r.Connections[2].Timing.Ends[0].Active.Silences = []timing.Silence{{From: 900 * pathMs, To: 1900 * pathMs}}
		}, "", nil},
		{"the other had to retransmit", func(r *agent.Result) { hit(r); waitsAt(&r.Connections[2], 0, 9000, 9050, 1) }, "", nil},
		{"retransmitted at other times, too", func(r *agent.Result) {
			hit(r)
			r.Connections[0].Timing.Ends[0].Series.Slots[40].Retransmitted = 3
		}, "", nil},
		{"a receiver was not ready", func(r *agent.Result) { hit(r); r.Connections[1].Ends[1].RNRNAKs = 1 }, "", nil},
		{"the capture lost packets", func(r *agent.Result) { hit(r); r.Dropped = 3 }, "", nil},
	} {
		r := &agent.Result{RDMA: 8000, Packets: 8000, First: 0, Last: 20000 * pathMs}
		r.Connections = []agent.Connection{onPath(0, 1, 2), onPath(1, 1, 2), onPath(2, 1, 2), onPath(3, 3, 2)}
		k.set(r)
		list := Of(r)
		if k.want == "" {
			for n := range list {
				if strings.Contains(list[n].What, "outage") {
					t.Errorf("%s: %s", k.name, list[n].What)
				}
			}
			continue
		}
		if len(list) != 1 || list[0].What != k.want || list[0].Kind != Interrupted || list[0].Certainty != Likely {
			t.Errorf("%s: %+v", k.name, list)
			continue
		}
		for _, want := range k.facts {
			label, text, _ := strings.Cut(want, ": ")
			found := false
			for _, f := range list[0].Facts {
				found = found || f == Fact{label, text}
			}
			if !found {
				t.Errorf("%s: no %q in %q", k.name, want, list[0].Facts)
			}
		}
	}
}

// TestPathOutagesBeside: a request that was never answered is told apart where its connection was not replaced, and where it was sent at another time.
func TestPathOutagesBeside(t *testing.T) {
	for _, since := range []int64{6030, 9030} {
		r := &agent.Result{RDMA: 8000, Packets: 8000, First: 0, Last: 20000 * pathMs}
		r.Connections = []agent.Connection{onPath(0, 1, 2), onPath(1, 1, 2), onPath(2, 1, 2), unansweredFrom(since, since+660)}
		for n := range 2 {
			waitsAt(&r.Connections[n], 0, 1000, 1600, 2)
			waitsAt(&r.Connections[n], 0, 6000, 6600, 2)
		}
		if since > 7000 {
			r.Connections = append(r.Connections, onPath(5, 1, 2))
			r.Connections[4].First, r.Connections[4].FirstFrame = 12000*pathMs, 12000
		}
		list := Of(r)
		if len(list) < 2 || list[0].Kind != Unanswered || !strings.Contains(list[1].What, "2 outages") || list[1].says("lost") {
			t.Errorf("%d: %+v", since, list)
		}
	}
}
