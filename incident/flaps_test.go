package incident

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/timing"
)

// TestFlaps: a host that was silent before, while others went on and requests to it waited, and whose queue pairs went on after that, is told with all these times, and is none that restarted; not where it was silent once, or nothing was
// owed, or the other hosts were silent too, or a single request was lost. One that is back with lower numbers had restarted then: that is told of the last time only.
func TestFlaps(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	connection := func(from byte, first, last int64, silences ...int64) agent.Connection {
		c := agent.Connection{Service: packet.RC, PairedBy: agent.ByCM, First: at(first), FirstFrame: uint64(first), Timing: &timing.Connection{}}
		for k := range c.Ends {
			c.Ends[k] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, [2]byte{from, 2}[k]}), QPN: uint32(from)<<8 + uint32(first), QPNKnown: true, Packets: 1000, Messages: 500, Last: at(last)}
			a := timing.Activity{First: at(first), Last: at(last)}
			for n := 0; n < len(silences); n += 2 {
				a.Silences = append(a.Silences, timing.Silence{From: at(silences[n]), To: at(silences[n+1]), Frames: [2]uint64{uint64(silences[n]), uint64(silences[n+1])}})
			}
			c.Timing.Ends[k].Active, c.Timing.Ends[k].Series.Width = a, int64(time.Second)
		}
		return c
	}
	const (
		said      = "10.0.0.1 was down or cut off twice, while 10.0.0.2 and 10.0.0.3 went on: 490ms from +1.010 s on and between 900ms and 16s from +3.000 s on. The 2nd time: 10.0.0.2 QP 0x101 sent"
		gone      = "10.0.0.1 was down or cut off for 16s, from +3.000 s on,"
		least     = "10.0.0.1 was down or cut off for 900ms to 16s, from +3.000 s on"
		meanwhile = " at +19.000 s: the capture holds no RDMA packet, ARP or LLDP of it meanwhile, while 10.0.0.2 and 10.0.0.3 went on. 10.0.0.2 QP"
		link      = "a link of 10.0.0.1 or on the way to it, or its switch port, that fails and comes back again and again"
		back      = "10.0.0.1, or its adapter, that crashed, lost power or was reset, and started again"
	)
	numbered := func(r *agent.Result) {
		r.Numbered = []agent.Numbering{{Host: packet.IPv4Addr([]byte{10, 0, 0, 1}), Steps: 999, Restarts: []agent.Restart{{Was: 999, Is: 1, From: at(2999), At: at(19001)}}}}
	}
	// again has the connection that came back fall silent once more, and a third one lose requests in that time, retransmitted so often.
	again := func(rounds uint32) func(r *agent.Result) {
		return func(r *agent.Result) {
			lost, on := connection(1, 19500, 22000), connection(1, 19000, 29990, 22000, 28000)
			s := qp.Stall{Request: qp.StalledRequest{Frame: 22000}, Since: at(22000), Begun: at(22100), Last: at(22100 + 100*int64(rounds)), Packets: rounds}
			s.Rounds[qp.TimerExpired] = rounds
			lost.Ends[1].Trouble, lost.Ends[1].Stalled, lost.Ends[1].Last = &qp.Trouble{Now: s}, true, s.Last
			lost.Closed = agent.Closed{By: lost.Ends[1].Addr, At: s.Last + 100e6, Frame: 23000}
			r.Connections[1] = on
			r.Connections = append(r.Connections, lost)
		}
	}
	// waits has a second connection lose requests in the time before.
	waits := func(r *agent.Result) {
		c := connection(1, 2, 2990, 1000, 1500)
		s := qp.Stall{Since: at(1020), Begun: at(1120), Last: at(1499), Ended: at(1500), Packets: 3}
		s.Rounds[qp.TimerExpired] = 3
		c.Ends[1].Trouble = &qp.Trouble{Longest: [4]qp.Stall{s}}
		r.Connections = append(r.Connections, c)
	}
	// announced has it come back with a gratuitous ARP each time, and once more at a time.
	announced := func(more int64, rounds uint32) func(r *agent.Result) {
		return func(r *agent.Result) {
			for _, ms := range []int64{1450, 18900, more} {
				a := packet.IPv4Addr([]byte{10, 0, 0, 1})
				if ms != 0 {
					r.Signs = append(r.Signs, agent.Sign{Presence: fabricagent.Presence{Host: a, To: a, By: fabricagent.ByARP}, At: at(ms), Frame: uint64(ms)})
				}
			}
			slices.SortStableFunc(r.Signs, func(a, b agent.Sign) int { return int(a.At - b.At) })
			if rounds == 0 { // it was retransmitted only when the host was back
				r.Connections[0].Ends[1].Trouble.Longest[0] = qp.Stall{Since: at(1010), Begun: at(1510), Last: at(1510), Ended: at(1511), Rounds: [qp.NumCauses]uint32{qp.TimerExpired: 1}}
			}
		}
	}
	// lose has several requests be lost in the time before, which a PSN sequence NAK asks for when the host is back.
	lose := func(packets uint32, ended int64, idle bool) func(r *agent.Result) {
		return func(r *agent.Result) {
			s := qp.Stall{Since: at(1010), Begun: at(1500), Last: at(1500), Ended: at(ended), Packets: packets}
			s.Rounds[qp.SequenceAsked] = 1
			c := &r.Connections[0]
			if c.Ends[1].Trouble.Longest[0] = s; !idle {
				c.Timing.Ends[1].Active.Silences = nil
			}
		}
	}
	// bothWays has one request be lost in the time before, and what the host itself sent, which a PSN sequence NAK asks for so many ms after it is back.
	bothWays := func(ms int64, set func(r *agent.Result)) func(r *agent.Result) {
		return func(r *agent.Result) {
			lose(1, 1501, false)(r)
			c := &r.Connections[0]
			c.Ends[0].Trouble = &qp.Trouble{}
			c.Ends[0].Trouble.Asked.Before = 1
			f := rule.Finding{Rule: rule.EvSeqNAK, Class: rule.Event, Time: at(1500 + ms), Frame: 1501, Peer: rule.Endpoint{Addr: c.Ends[0].Addr, QPN: c.Ends[0].QPN}}
			f.Accused.Addr = c.Ends[1].Addr
			r.Findings = append(r.Findings, f)
			if set != nil {
				set(r)
			}
		}
	}
	for _, k := range []struct {
		name            string
		before, besides []int64
		rounds          uint32 // of the request that waited in the time before; 0: none did
		set             func(r *agent.Result)
		want, fit       string
	}{
		{"twice", []int64{1000, 1500}, nil, 3, nil, said, link},
		{"once", nil, nil, 0, nil, least + ", and was back," + meanwhile, restarts},
		{"nothing was owed before", []int64{1000, 1500}, nil, 0, nil, least + ", and was back," + meanwhile, restarts},
		{"one request was lost before", []int64{1000, 1500}, nil, 1, nil, least + ", and was back," + meanwhile, restarts},
		{"the other was silent too", []int64{1000, 1500}, []int64{1000, 1500, 2950, 18000}, 3, nil, "10.0.0.2 QP 0x101 sent", restarts},
		{"soon after one", []int64{1000, 1500, 1600, 1800}, nil, 3, nil, said, link},
		{"and a third time, on another connection", []int64{1000, 1500}, nil, 3, again(7), strings.Replace(strings.Replace(said, "twice", "3 times", 1), " and between 900ms and 16s from +3.000 s on.", ", between 900ms and 16s from +3.000 s on and between 800ms and 6s from +22.000 s on.", 1), link},
		{"one request was lost after", []int64{1000, 1500}, nil, 3, again(1), said, link},
		{"the other was silent for half of it, and two waited", []int64{1000, 1500}, []int64{1100, 1400}, 3, waits, said, link},
		{"and one waited", []int64{1000, 1500}, []int64{1100, 1400}, 3, nil, least + ", and was back," + meanwhile, restarts},
		{"the other was silent for all of it", []int64{1000, 1500}, []int64{1000, 1500}, 3, waits, least + ", and was back," + meanwhile, restarts},
		{"asked for most of it", []int64{1000, 1500}, nil, 3, func(r *agent.Result) { r.Connections[0].Ends[1].Trouble.Now.Last = at(12000) }, strings.Replace(said, "between 900ms and 16s", "16s", 1), link},
		{"one request was lost before, and ARP tells of both", []int64{1000, 1500}, nil, 1, announced(0, 1), strings.NewReplacer("490ms", "440ms", "and 16s", "and 15.9s").Replace(said), link},
		{"and retransmitted only after that", []int64{1000, 1500}, []int64{1100, 1400}, 1, announced(0, 0), strings.NewReplacer("490ms", "440ms", "and 16s", "and 15.9s").Replace(said), link},
		{"and ARP tells of any time", []int64{1000, 1500}, nil, 1, announced(25000, 1), "10.0.0.1 was down or cut off for 900ms to 15.9s, from +3.000 s on", restarts},
		{"nobody asked before, and ARP tells of both", []int64{1000, 1500}, nil, 0, announced(0, 1), strings.NewReplacer("490ms from +1.010 s", "450ms from +1.000 s", "and 16s", "and 15.9s").Replace(said), link},
		{"and ARP tells of any time, too", []int64{1000, 1500}, nil, 0, announced(25000, 1), "10.0.0.1 was down or cut off for 900ms to 15.9s, from +3.000 s on", restarts},
		{"and restarted", []int64{1000, 1500}, nil, 3, numbered, gone + " and had likely restarted when it was back," + meanwhile, back},
		{"several requests were lost before", []int64{1000, 1500}, nil, 1, lose(4, 1501, false), said, link},
		{"few were", []int64{1000, 1500}, nil, 1, lose(3, 1501, false), least + ", and was back," + meanwhile, restarts},
		{"sent at once", []int64{1000, 1500}, nil, 1, lose(9, 1501, true), least + ", and was back," + meanwhile, restarts},
		{"answered long after", []int64{1000, 1500}, nil, 1, lose(9, 1900, false), least + ", and was back," + meanwhile, restarts},
		{"while the other was silent for half of it", []int64{1000, 1500}, []int64{1100, 1400}, 1, lose(9, 1501, false), least + ", and was back," + meanwhile, restarts},
		{"both ways were cut", []int64{1000, 1500}, nil, 1, bothWays(0, nil), said, link},
		{"a NAK long after", []int64{1000, 1500}, nil, 1, bothWays(2, nil), least + ", and was back," + meanwhile, restarts},
		{"retransmitted before it was back", []int64{1000, 1500}, nil, 1, bothWays(0, func(r *agent.Result) {
			r.Connections[0].Ends[1].Trouble.Longest[0].Begun = at(1400)
		}), least + ", and was back," + meanwhile, restarts},
		{"both ways were cut, and the other was silent for half of it", []int64{1000, 1500}, []int64{1100, 1400}, 1, bothWays(0, nil), least + ", and was back," + meanwhile, restarts},
		{"a sign of it", []int64{1000, 1500}, nil, 3, func(r *agent.Result) {
			r.Signs = []agent.Sign{{Presence: fabricagent.Presence{Host: packet.IPv4Addr([]byte{10, 0, 0, 1}), By: fabricagent.ByLLDP}, At: at(9000), Frame: 9000}}
		}, strings.Replace(said, "and 16s from", "and 6s from", 1), link},
		{"a sign of it all the time", nil, nil, 0, func(r *agent.Result) {
			r.Signs = []agent.Sign{{Presence: fabricagent.Presence{Host: packet.IPv4Addr([]byte{10, 0, 0, 1})}, At: at(3050), Frame: 3050}}
		}, "10.0.0.2 QP 0x101 sent", restarts},
	} {
		r := &agent.Result{RDMA: 8000, Packets: 8000, First: at(0), Last: at(30000), Taps: make([]fabricagent.Tap, 1)}
		failed := connection(1, 1, 3000, k.before...)
		stall := qp.Stall{Request: qp.StalledRequest{Frame: 3000}, Since: at(3000), Begun: at(3100), Last: at(3900), Packets: 7}
		stall.Rounds[qp.TimerExpired] = 7
		x := &qp.Trouble{Now: stall}
		if k.rounds > 0 {
			x.Longest[0] = qp.Stall{Since: at(1010), Begun: at(1100), Last: at(1499), Ended: at(1500)}
			x.Longest[0].Rounds[qp.TimerExpired] = k.rounds
		}
		failed.Ends[1].Trouble, failed.Ends[1].Stalled, failed.Ends[1].Last = x, true, at(3900)
		r.Connections = append(r.Connections, failed, connection(1, 19000, 29990), connection(3, 1, 29990, k.besides...))
		if k.set != nil {
			k.set(r)
		}
		list := Of(r)
		if len(list) == 0 || list[0].Kind != Unanswered {
			t.Fatalf("%s: %+v", k.name, list)
		}
		i := &list[0]
		if !strings.HasPrefix(i.What, k.want) || !slices.Contains(i.FitsWith, k.fit) || (i.FitsWith[0] == link) != (k.fit == link) {
			t.Errorf("%s: %s %q", k.name, i.What, i.FitsWith)
		}
		lost := "the 2nd time 10.0.0.2 QP 0x101; connected again: 10.0.0.2 at +19.000 s; and the 3rd time 10.0.0.2 QP 0x4d2c; " +
			"none of these hosts connected again in the capture"
		if slices.Contains(i.Facts, Fact{"lost", lost}) != strings.HasPrefix(k.name, "and a third time") {
			t.Errorf("%s: %q", k.name, i.Facts)
		}
	}
}

// TestLostOnlyDown: what was retransmitted to a host that was down at times is told with these where all of it was sent in them, and not where another
// packet was, or more rounds than are known.
func TestLostOnlyDown(t *testing.T) {
	a, b := packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2})
	const ms = int64(time.Millisecond)
	downs := []hostSilence{{Silence: timing.Silence{From: 1000 * ms, To: 1500 * ms}, from: 1000 * ms, to: 1500 * ms, owed: 1010 * ms}, {from: 3000 * ms, to: 4000 * ms}}
	for _, k := range []struct {
		name string
		set  func(x *qp.Trouble)
		want bool
	}{
		{"in both", func(*qp.Trouble) {}, true},
		{"at another time", func(x *qp.Trouble) { x.Longest[0].Since = 2000 * ms }, false},
		{"retransmitted later", func(x *qp.Trouble) { x.Longest[1].Last = 4100 * ms }, false},
		{"once, later", func(x *qp.Trouble) { x.Longest[1].Begun, x.Longest[1].Last = 4100*ms, 4100*ms }, true},
		{"by its next timer", func(x *qp.Trouble) {
			x.Longest[1].Begun, x.Longest[1].Last, x.Longest[1].Rounds[qp.TimerExpired] = 3500*ms, 4400*ms, 2
			x.Sum.Rounds[qp.TimerExpired] = 2
		}, true},
		{"by timers long after", func(x *qp.Trouble) {
			x.Longest[1].Begun, x.Longest[1].Last, x.Longest[1].Rounds[qp.TimerExpired] = 3500*ms, 5500*ms, 2
			x.Sum.Rounds[qp.TimerExpired] = 2
		}, false},
		{"and more", func(x *qp.Trouble) { x.Sum.Rounds[qp.TimerExpired]++ }, false},
	} {
		x := &qp.Trouble{}
		x.Sum.Rounds[qp.SequenceAsked] = 2
		for n, since := range []int64{1010, 3010} {
			x.Longest[n] = qp.Stall{Since: since * ms, Begun: downs[n].to, Last: downs[n].to, Packets: 5}
			x.Longest[n].Rounds[qp.SequenceAsked] = 1
		}
		k.set(x)
		c := agent.Connection{Service: packet.RC}
		c.Ends[0], c.Ends[1] = agent.End{Addr: a}, agent.End{Addr: b, Trouble: x}
		run := &teller{run: &agent.Result{Connections: []agent.Connection{c}}}
		i := &Incident{Kind: Unanswered, Peer: Party{Addr: a}}
		list := []Incident{{Kind: Loss, Local: Party{Addr: b}, Peer: Party{Addr: a}}, {Kind: Loss, Local: Party{Addr: a}, Peer: Party{Addr: b}}}
		merged := map[*Incident]bool{}
		run.lossesTold(i, downs, list, merged)
		told := slices.Contains(i.Facts, Fact{"lost then", "10 retransmissions to 10.0.0.1, all of packets sent in these times or right after"})
		if told != k.want || merged[&list[0]] != k.want || merged[&list[1]] {
			t.Errorf("%s: %q", k.name, i.Facts)
		}
	}
}

// TestLostDownWhole: what was retransmitted to a host that was down counts with what was on its way when a round began, and with the request that nothing answers, where that was sent then, too.
func TestLostDownWhole(t *testing.T) {
	a, b := packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2})
	const ms = int64(time.Millisecond)
	downs := []hostSilence{{from: 1000 * ms, to: 1500 * ms}, {from: 3000 * ms, to: 9000 * ms}}
	for _, k := range []struct {
		name  string
		since int64 // of the request that nothing answers; 0: there is none
		again uint32
		want  uint64
	}{{"none waits", 0, 7, 7}, {"one waits", 3010, 70, 70}, {"fewer are counted by the end", 3010, 0, 45}, {"another waits", 9500, 70, 5}} {
		x := &qp.Trouble{}
		x.Longest[0] = qp.Stall{Since: 1010 * ms, Begun: 1500 * ms, Last: 1500 * ms, Packets: 5}
		x.Longest[0].Rounds[qp.SequenceAsked], x.Sum.Rounds[qp.SequenceAsked] = 1, 1
		if k.since != 0 {
			x.Now = qp.Stall{Since: k.since * ms, Begun: (k.since + 300) * ms, Last: (k.since + 2100) * ms, Packets: 40}
			x.Now.Rounds[qp.TimerExpired] = 7
		}
		c := agent.Connection{Service: packet.RC}
		c.Ends[0], c.Ends[1] = agent.End{Addr: a}, agent.End{Addr: b, Trouble: x, Stalled: k.since != 0, Retransmissions: k.again}
		run := &teller{run: &agent.Result{Connections: []agent.Connection{c}}}
		if n := run.lostOnlyDown(a, downs); n != k.want {
			t.Errorf("%s: %d", k.name, n)
		}
	}
}
