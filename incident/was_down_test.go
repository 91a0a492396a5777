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

// TestServesAgain: of a host that was down and lost its connections it is told when it was back, as ARP shows, for how long no program listened, whose refusals are no incidents of their own then, and how long nobody asked; and
// whether what it counts began again or goes on.
func TestServesAgain(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	connection := func(from byte, qpn uint32, first, last int64) agent.Connection {
		c := agent.Connection{Service: packet.RC, PairedBy: agent.ByCM, First: at(first), FirstFrame: uint64(first), Timing: &timing.Connection{}}
		for k := range c.Ends {
			c.Ends[k] = agent.End{Addr: host([2]byte{from, 2}[k]), QPN: qpn, QPNKnown: true, Packets: 1000, Messages: 500, Last: at(last)}
			c.Timing.Ends[k].Active = timing.Activity{First: at(first), Last: at(last)}
		}
		return c
	}
	refusal := func(r *agent.Result, reason mad.RejReason, ms int64) {
		f := rule.Finding{Rule: rule.EvReject, Class: rule.Event, Time: at(ms), Frame: uint64(ms), Detail: cm.Refusal{Reason: reason, Service: "TCP port 987"}.String()}
		f.Accused.Addr, f.Peer.Addr = host(1), host(2)
		r.Findings = append(r.Findings, f)
	}
	const (
		back   = "back: 10.0.0.1 was there again with ARP in frame 9000, +9.000 s; "
		delay  = back + "the next connection began 10s after that: with the reconnect delay of 10.0.0.1"
		listen = back + "no program of it listened on TCP port 987 until +15.000 s at least: it refused 2 REQs, from +12.000 s on (invalid service ID, reason 8)\n"
		outage = "outage: 6s until it was back, 6s or more until a program listened, 4s or less for the reconnect delay of 10.0.0.2"
		on     = "restart: nothing shows one: its IPv4 identifications and the numbers of its queue pairs count on (0x102, and 0x101 before)"
	)
	for _, k := range []struct {
		name      string
		set       func(r *agent.Result)
		want, not []string
		incidents int
	}{
		{"a delay", func(*agent.Result) {}, []string{delay}, []string{"outage: ", "restart: ", "no program"}, 1},
		{"no program", func(r *agent.Result) {
			refusal(r, mad.RejInvalidService, 12000)
			refusal(r, mad.RejInvalidService, 15000)
		}, []string{listen, outage}, nil, 1},
		{"refused for another reason", func(r *agent.Result) { refusal(r, mad.RejConsumer, 12000) }, []string{delay}, []string{"outage: ", "no program"}, 2},
		{"counts on", func(r *agent.Result) { r.Numbered = []agent.Numbering{{Host: host(1), Steps: 999}} }, []string{delay, on}, []string{"restarted"}, 1},
		{"goes on far ahead", func(r *agent.Result) {
			r.Numbered = []agent.Numbering{{Host: host(1), Steps: 999, Holes: []agent.Hole{{Packets: 13000, From: at(2000), To: at(9000)}}}}
		}, []string{delay}, []string{"restart: "}, 1},
		{"goes on not far ahead", func(r *agent.Result) {
			r.Numbered = []agent.Numbering{{Host: host(1), Steps: 999, Holes: []agent.Hole{{Packets: 100, From: at(2000), To: at(9000)}}}}
		}, []string{delay, on}, nil, 1},
		{"counts from the start, by its queue pairs", func(r *agent.Result) { r.Connections[1].Ends[0].QPN = 0x12 }, []string{
			" and had likely restarted when it was back, at", "restart: its queue pairs have lower numbers than before (0x12, and 0x101 before)",
		}, nil, 1},
		{"lower numbers", func(r *agent.Result) { r.Connections[1].Ends[0].QPN = 0x80 }, []string{delay}, []string{"restart: "}, 1},
		{"counts from the start, by its queue pairs only", func(r *agent.Result) {
			r.Connections[1].Ends[0].QPN = 0x12
			r.Numbered = []agent.Numbering{{Host: host(1), Steps: 999}}
		}, []string{delay}, []string{"restart: "}, 1},
		{"none connects again", func(r *agent.Result) { r.Connections[1].PairedBy = agent.ByPSN }, nil, []string{"back: "}, 1},
	} {
		r := &agent.Result{RDMA: 8000, Packets: 8000, First: at(0), Last: at(30000), Taps: make([]fabricagent.Tap, 1)}
		failed := connection(1, 0x101, 1, 3000)
		stall := qp.Stall{Request: qp.StalledRequest{Frame: 3000}, Since: at(3000), Begun: at(3100), Last: at(3900), Packets: 7}
		stall.Rounds[qp.TimerExpired] = 7
		failed.Ends[1].Trouble, failed.Ends[1].Stalled, failed.Ends[1].Last = &qp.Trouble{Now: stall}, true, at(3900)
		r.Connections = append(r.Connections, failed, connection(1, 0x102, 19000, 29990), connection(3, 0x301, 1, 29990))
		r.Signs = []agent.Sign{{Presence: fabricagent.Presence{Host: host(1)}, At: at(2000), Frame: 2000}, {Presence: fabricagent.Presence{Host: host(1)}, At: at(9000), Frame: 9000}}
		k.set(r)
		list := Of(r)
		if len(list) != k.incidents {
			t.Errorf("%s: %d incidents", k.name, len(list))
		}
		var got strings.Builder
		got.WriteString(list[0].What)
		for _, f := range list[0].Facts {
			got.WriteString("\n" + f.Label + ": " + f.Text)
		}
		for _, want := range k.want {
			if !strings.Contains(got.String(), want) {
				t.Errorf("%s: %s\nwant %q", k.name, got.String(), want)
			}
		}
		for _, not := range k.not {
			if strings.Contains(got.String(), not) {
				t.Errorf("%s: %s\nand not %q", k.name, got.String(), not)
			}
		}
	}
}

// TestAskedInVain: a connection on which only the other host sends after the host was gone, and asks in vain, does not show that the host went on; where
// the host does, it is told when. Its program that listened late is in the first sentence, with all services, and REQs and ARP requests that nothing
// answered show until when it was asked.
func TestAskedInVain(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	connection := func(a, b byte, qpn uint32, first, last int64) agent.Connection {
		c := agent.Connection{Service: packet.RC, PairedBy: agent.ByCM, First: at(first), FirstFrame: uint64(first), Timing: &timing.Connection{}}
		for k, n := range [2]byte{a, b} {
			c.Ends[k] = agent.End{Addr: host(n), QPN: qpn, QPNKnown: true, Packets: 1000, Messages: 500, Last: at(last)}
			c.Timing.Ends[k].Active = timing.Activity{First: at(first), Last: at(last)}
		}
		return c
	}
	stalled := func(c *agent.Connection, since, last int64) {
		s := qp.Stall{Request: qp.StalledRequest{Frame: uint64(since)}, Since: at(since), Begun: at(since + 100), Last: at(last), Packets: 7}
		s.Rounds[qp.TimerExpired] = 7
		c.Ends[1].Trouble, c.Ends[1].Stalled, c.Ends[1].Last = &qp.Trouble{Now: s}, true, at(last)
	}
	refusal := func(r *agent.Result, by byte, service string, ms int64) {
		f := rule.Finding{Rule: rule.EvReject, Class: rule.Event, Time: at(ms), Frame: uint64(ms), Detail: cm.Refusal{Reason: mad.RejInvalidService, Service: service}.String()}
		f.Accused.Addr, f.Peer.Addr = host(1), host(by)
		r.Findings = append(r.Findings, f)
	}
	arp := func(r *agent.Result, from, to byte, ms int64) {
		r.Signs = append(r.Signs, agent.Sign{Presence: fabricagent.Presence{Host: host(from), By: fabricagent.ByARP, To: host(to)}, At: at(ms), Frame: uint64(ms)})
	}
	const (
		down  = "10.0.0.1 was down or cut off for 1.8s to 16s, from +3.000 s on, and was back, at +19.000 s: the capture holds no RDMA packet, ARP or LLDP of it"
		asked = "10.0.0.1 was down or cut off for 16s, from +3.000 s on, and was back, at +19.000 s: the capture holds no RDMA packet, ARP or LLDP of it"
		late  = "10.0.0.1 was down or cut off for 1.8s to 9s, from +3.000 s on, and was back, at +12.000 s; no program of it listened until +15.000 s at least, " +
			"and the next connection began at +19.000 s: the capture holds no RDMA packet"
		ports  = "back: 10.0.0.1 was there again with frame 12000, +12.000 s; no program of it listened on TCP port 987 and TCP port 988 until +15.000 s at least"
		began  = ", and had likely restarted when it was back, at +19.000 s"
		none   = "DREQ: 10.0.0.1 sent none before: it did not close its connections"
		wentOn = "10.0.0.1 carried nothing meanwhile on 1 other connection either, which had been busy, and went on there about 6.5s after this request"
	)
	for _, k := range []struct {
		name      string
		set       func(r *agent.Result)
		want, not []string
	}{
		{"a peer asks in vain", func(*agent.Result) {}, []string{down}, []string{"went on there", "no program", "DREQ: "}},
		{"it goes on", func(r *agent.Result) {
			c := &r.Connections[3]
			c.Ends[0].Last, c.Ends[1].Last, c.Ends[1].Stalled, c.Ends[1].Trouble, c.Closed = at(29000), at(29000), false, nil, agent.Closed{}
			c.Timing.Ends[0].Active = timing.Activity{First: at(1), Last: at(29000), Silences: []timing.Silence{{From: at(2990), To: at(9500)}}}
			c.Timing.Ends[1].Active.Last = at(29000)
			r.Connections[0].Ends[0].Last = at(2000)
			own := connection(1, 5, 0x77, 3200, 3300) // so that it was not silent on all
			r.Connections = append(r.Connections, own)
		}, []string{wentOn}, []string{"was down"}},
		{"a program late", func(r *agent.Result) {
			refusal(r, 2, "TCP port 988", 12000)
			refusal(r, 4, "TCP port 987", 15000)
		}, []string{late, ports}, []string{"see there"}},
		{"a restart", func(r *agent.Result) { r.Connections[1].Ends[0].QPN = 0x12 }, []string{began, none}, nil},
		{"a restart in order", func(r *agent.Result) {
			r.Connections[1].Ends[0].QPN = 0x12
			c := connection(1, 5, 0x104, 1, 2995)
			c.Closed = agent.Closed{By: host(1), At: at(2995), Frame: 2995}
			r.Connections = append(r.Connections, c)
		}, []string{began}, []string{none}},
		{"by REQs", func(r *agent.Result) {
			r.REQs = []cm.Unanswered{{From: host(2), To: host(1), Waits: cm.ForREP, First: at(5000), Last: at(14000), Times: 3}}
		}, []string{asked}, nil},
		{"by ARP", func(r *agent.Result) { arp(r, 2, 1, 14000) }, []string{asked}, nil},
		{"by ARP, for another", func(r *agent.Result) { arp(r, 2, 3, 14000) }, []string{down}, nil},
		{"by ARP, of a stranger", func(r *agent.Result) { arp(r, 9, 1, 14000) }, []string{down}, nil},
	} {
		r := &agent.Result{RDMA: 8000, Packets: 8000, First: at(0), Last: at(30000), Taps: make([]fabricagent.Tap, 1)}
		failed, idle := connection(1, 2, 0x101, 1, 3000), connection(1, 4, 0x103, 1, 2990)
		stalled(&failed, 3000, 3900)
		stalled(&idle, 4000, 4800)
		idle.Ends[1].Trouble.Now.Request.Frame = 4000
		idle.Closed = agent.Closed{By: host(4), At: at(5000), Frame: 5000}
		to := &idle.Timing.Ends[1]
		to.Active = timing.Activity{First: at(1), Last: at(4800), Silences: []timing.Silence{{From: at(2990), To: at(4000)}}}
		to.Series = timing.Series{Start: at(0), Width: 100 * int64(time.Millisecond), Slots: make([]timing.Slot, 41)}
		to.Series.Slots[29].Bytes, to.Series.Slots[40].Bytes = 64, 64
		r.Connections = append(r.Connections, failed, connection(1, 2, 0x102, 19000, 29990), connection(3, 2, 0x301, 1, 29990), idle)
		k.set(r)
		var got strings.Builder
		for _, i := range Of(r) {
			got.WriteString(i.What + "\n")
			for _, f := range i.Facts {
				got.WriteString(f.Label + ": " + f.Text + "\n")
			}
		}
		for _, want := range k.want {
			if !strings.Contains(got.String(), want) {
				t.Errorf("%s: %s\nwant %q", k.name, got.String(), want)
			}
		}
		for _, not := range k.not {
			if strings.Contains(got.String(), not) {
				t.Errorf("%s: %s\nand not %q", k.name, got.String(), not)
			}
		}
	}
}

// TestWaitedAgain: times that retries outlasted are one incident where the host was silent in each while others went on; not where nobody shows to have gone on, or it was seen meanwhile.
func TestWaitedAgain(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	for _, k := range []struct {
		name      string
		set       func(r *agent.Result)
		incidents int
		want      string
	}{
		{"while others went on", func(*agent.Result) {}, 1, "10.0.0.1 was down or cut off twice, while 10.0.0.3 and 10.0.0.4 went on: 990ms from +1.010 s on and 490ms from +5.010 s on. The 1st time: Nothing that 10.0.0.2"},
		{"nobody goes on", func(r *agent.Result) { r.Connections = r.Connections[:1] }, 2, "Nothing that 10.0.0.2"},
		{"it was seen", func(r *agent.Result) {
			r.Signs = []agent.Sign{{Presence: fabricagent.Presence{Host: host(1)}, At: at(5020), Frame: 5020}}
		}, 2, "Nothing that 10.0.0.2"},
		{"it may have answered pings", func(r *agent.Result) {
			r.Echoes = []agent.Echo{{Addr: host(1), Replies: 9, First: at(1), Last: at(5300)}}
		}, 2, "Nothing that 10.0.0.2"},
		{"answered late", func(r *agent.Result) { r.Connections[0].Ends[1].Trouble.Longest[1].Last = at(5400) }, 2, ""},
		{"no other time", func(r *agent.Result) { r.Connections[0].Ends[1].Trouble.Longest[1] = qp.Stall{} }, 1, "Nothing that 10.0.0.2"},
	} {
		r := &agent.Result{RDMA: 8000, Packets: 8000, First: at(0), Last: at(30000), Taps: make([]fabricagent.Tap, 1)}
		for n := range byte(2) {
			c := agent.Connection{Service: packet.RC, First: at(1), FirstFrame: uint64(1 + n), Timing: &timing.Connection{}}
			for e := range c.Ends {
				c.Ends[e] = agent.End{Addr: host(1 + 2*n + byte(e)), QPN: 16, QPNKnown: true, Packets: 1000, Messages: 500, Last: at(29000)}
				c.Timing.Ends[e].Active = timing.Activity{First: at(1), Last: at(29000)}
			}
			r.Connections = append(r.Connections, c)
		}
		r.Connections[0].Timing.Ends[0].Active.Silences = []timing.Silence{{From: at(1000), To: at(2000), Frames: [2]uint64{100, 200}}, {From: at(5000), To: at(5500), Frames: [2]uint64{500, 550}}}
		x := &qp.Trouble{}
		for n, until := range []int64{2000, 5500} {
			x.Longest[n] = qp.Stall{Since: at([]int64{1010, 5010}[n]), Begun: at([]int64{1100, 5100}[n]), Last: at(until - 1), Ended: at(until)}
			x.Longest[n].Rounds[qp.TimerExpired] = 3
		}
		r.Connections[0].Ends[1].Trouble = x
		k.set(r)
		list := Of(r)
		if len(list) != k.incidents || !strings.HasPrefix(list[0].What, k.want) || strings.Contains(list[0].What, "cut off") && list[0].End < at(5500) {
			t.Errorf("%s: %+v", k.name, list)
		}
	}
}

// TestLostInDown: losses of a host that was down fit that; not those that were over before, or of others.
func TestLostInDown(t *testing.T) {
	a, b, c := packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2}), packet.IPv4Addr([]byte{10, 0, 0, 3})
	downs := []hostSilence{{owed: 1000, to: 2000}}
	for _, k := range []struct {
		i    Incident
		want bool
	}{
		{Incident{Kind: Loss, Local: Party{Addr: b}, Peer: Party{Addr: a}, Begin: 1500, End: 1600}, true},
		{Incident{Kind: Retransmitting, Local: Party{Addr: a}, Peer: Party{Addr: b}, Begin: 2500, End: 2600}, true},
		{Incident{Kind: Loss, Local: Party{Addr: b}, Peer: Party{Addr: a}, Begin: 500, End: 600}, false},
		{Incident{Kind: Loss, Local: Party{Addr: b}, Peer: Party{Addr: c}, Begin: 1500, End: 1600}, false},
		{Incident{Kind: Congestion, Local: Party{Addr: b}, Peer: Party{Addr: a}, Begin: 1500, End: 1600}, false},
	} {
		if k.i.lostInDown(a, downs); (len(k.i.FitsWith) == 1 && strings.Contains(k.i.FitsWith[0], "10.0.0.1 was down")) != k.want {
			t.Errorf("%+v", k.i)
		}
	}
}
