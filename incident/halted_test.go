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

// TestHalted: a host to which nobody sent a request was cut off where all of its busy connections fell silent at once while others went on, and its
// identifications lack about what it would have sent, and restarted where they begin again, and its connections are over. Of one that was idle
// nothing is told: its identifications count on, or lack what it sent elsewhere, or one of its connections goes on.
func TestHalted(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	const (
		cut = "10.0.0.1 was cut off for 3s: it was silent on all of its 2 connections from +6.000 s to +9.000 s, " +
			"while 10.0.0.3 and 10.0.0.4 went on, and went on sending: its IPv4 identifications lack 6 packets."
		restart = "10.0.0.1 restarted: it was silent for 8.99s on all of its 2 connections from +6.000 s to +14.990 s, " +
			"while 10.0.0.3 and 10.0.0.4 went on, and its IPv4 identifications begin again after that."
		low = "restart: its IPv4 identifications begin again, with 103 in frame 14990 after 52578 in frame 6000; " +
			"its queue pairs have lower numbers than before (0x20 to 0x21, and 0x100 to 0x101 before)"
		over   = "lost: 2 connections of these, which carry nothing after it; the next connection began in frame 14980, at +14.980 s"
		others = "silent: the capture holds nothing of it between frames 6000 and 9000, and 2,999 " +
			"frames of others; nothing came to it on its connections"
	)
	connection := func(a, b byte, qpn uint32, first, last int64, silent ...timing.Silence) agent.Connection {
		c := agent.Connection{Service: packet.RC, PairedBy: agent.ByCM, First: at(first), FirstFrame: uint64(first), Timing: &timing.Connection{}}
		for e := range c.Ends {
			c.Ends[e] = agent.End{Addr: host([2]byte{a, b}[e]), QPN: qpn, QPNKnown: true, Packets: 1000, Messages: 500, Last: at(last)}
			c.Timing.Ends[e].Active = timing.Activity{First: at(first), Last: at(last), Frames: [2]uint64{uint64(first), uint64(last)}, Silences: silent}
		}
		return c
	}
	restarted := func(r *agent.Result) {
		for n := range r.Connections[:2] {
			c := connection(1, 2, 0x100+uint32(n), 1, 6000)
			c.Closed = agent.Closed{By: host(2), At: at(20000)}
			r.Connections[n] = c
			d := connection(1, 2, 0x20+uint32(n), 15000, 29000)
			d.First, d.FirstFrame = at(14980), 14980 // its peer asked for it first
			r.Connections = append(r.Connections, d)
		}
		r.Numbered[0].Holes = nil
		r.Numbered[0].Restarts = []agent.Restart{{Was: 0xcd62, Is: 0x67, Before: 6000, After: 14990, From: at(6000), At: at(14990)}}
	}
	for _, k := range []struct {
		name string
		set  func(r *agent.Result)
		want []string // nil: nothing is told
	}{
		{"cut off", func(*agent.Result) {}, []string{cut, others}},
		{"and retransmits when it is back", func(r *agent.Result) {
			for n := range 2 {
				s := qp.Stall{Since: at(5999), Begun: at(9000), Last: at(9000), Ended: at(9001)}
				s.Rounds[qp.TimerExpired] = 1
				r.Connections[n].Ends[0].Trouble = &qp.Trouble{}
				r.Connections[n].Ends[0].Trouble.Longest[0] = s
			}
		}, []string{cut, "after: 2 connections of these went on after it, 2 of them with a retransmission of what had been sent before"}},
		{"and lost its connections", func(r *agent.Result) {
			for n := range r.Connections[:2] {
				c := connection(1, 2, 0x100+uint32(n), 1, 6000)
				c.Closed = agent.Closed{By: host(1), At: at(9000), Frame: 9000}
				r.Connections[n] = c
				r.Connections = append(r.Connections, connection(1, 2, 0x102+uint32(n), 9500, 29000))
			}
		}, []string{cut, "lost: 2 connections of these, which carry nothing after it; the next connection began in frame 9500, at +9.500 s"}},
		{"and sends elsewhere once", func(r *agent.Result) {
			more := agent.Hole{Packets: 1, Before: 12000, After: 12100, From: at(12000), To: at(12100)}
			r.Numbered[0].Holes = append(r.Numbered[0].Holes, more)
		}, []string{"possible: " + cut}},
		{"its peers disconnect meanwhile", func(r *agent.Result) {
			restarted(r)
			r.Connections[0].Closed.At = at(10000)
		}, []string{restart, low, over}},
		{"it disconnects when it is idle", func(r *agent.Result) {
			restarted(r)
			r.Connections[0].Closed = agent.Closed{By: host(1), At: at(10000), Frame: 10000}
		}, nil},
		{"restarted", restarted, []string{restart, low, over}},
		{"idle", func(r *agent.Result) { r.Numbered[0].Holes = nil }, nil},
		{"no one counter", func(r *agent.Result) { r.Numbered = nil }, nil},
		{"new connections after an idle time", func(r *agent.Result) { restarted(r); r.Numbered[0].Restarts = nil }, nil},
		{"its queue pairs go on", func(r *agent.Result) {
			restarted(r)
			r.Connections[0] = connection(1, 2, 0x100, 1, 29000, timing.Silence{From: at(6000), To: at(15000)})
		}, nil},
		{"closed before", func(r *agent.Result) {
			restarted(r)
			r.Connections[0].Closed.At, r.Connections[1].Closed.At = at(5999), at(5999)
		}, nil},
		{"nobody goes on", func(r *agent.Result) { r.Connections = r.Connections[:2] }, nil},
		{"all pause", func(r *agent.Result) {
			for e := range 2 {
				r.Connections[2].Timing.Ends[e].Active.Silences = []timing.Silence{{From: at(6001), To: at(9000)}}
			}
		}, nil},
		{"sends elsewhere now and then", func(r *agent.Result) {
			more := agent.Hole{Packets: 4, Before: 12000, After: 12100, From: at(12000), To: at(12100)}
			r.Numbered[0].Holes = append(r.Numbered[0].Holes, more)
		}, nil},
		{"sends much elsewhere", func(r *agent.Result) { r.Numbered[0].Holes[0].Packets = 20000 }, nil},
		{"idle in each iteration", func(r *agent.Result) {
			for n := range 2 {
				for e := range 2 {
					a := &r.Connections[n].Timing.Ends[e].Active
					a.Silences = append(a.Silences, timing.Silence{From: at(12000), To: at(14000), Frames: [2]uint64{12000, 14000}})
				}
			}
		}, nil},
		{"it was seen", func(r *agent.Result) {
			r.Signs = []agent.Sign{{Presence: fabricagent.Presence{Host: host(1)}, At: at(7000), Frame: 7000}}
		}, nil},
		{"it may have answered pings", func(r *agent.Result) {
			r.Echoes = []agent.Echo{{Addr: host(1), Replies: 9, First: at(1), Last: at(20000)}}
		}, nil},
		{"its peer went on", func(r *agent.Result) { r.Connections[1].Timing.Ends[1].Active.Silences = nil }, nil},
		{"one connection", func(r *agent.Result) { r.Connections = append(r.Connections[:1], r.Connections[2]) }, nil},
		{"one fell silent before", func(r *agent.Result) {
			for e := range 2 {
				r.Connections[1].Timing.Ends[e].Active.Silences = []timing.Silence{{From: at(4000), To: at(9000)}}
			}
		}, nil},
		{"a capture that lost packets", func(r *agent.Result) { r.Gaps = 3 }, nil},
	} {
		r := &agent.Result{RDMA: 8000, Packets: 8000, First: at(0), Last: at(30000), Taps: make([]fabricagent.Tap, 1)}
		silent := timing.Silence{From: at(6000), To: at(9000), Frames: [2]uint64{6000, 9000}}
		r.Connections = []agent.Connection{connection(1, 2, 16, 1, 29000, silent), connection(1, 2, 17, 1, 29000, silent), connection(3, 4, 48, 1, 29500)}
		hole := agent.Hole{Packets: 6, Before: 6000, After: 9000, From: at(6000), To: at(9000)}
		r.Numbered = []agent.Numbering{{Host: host(1), Steps: 9000, Holes: []agent.Hole{hole}}}
		k.set(r)
		var got strings.Builder
		n := 0
		for _, i := range Of(r) {
			if i.Kind == Untrusted {
				continue
			}
			n++
			got.WriteString(i.Certainty.String() + ": " + i.What)
			for _, f := range i.Facts {
				got.WriteString("\n" + f.Label + ": " + f.Text)
			}
		}
		if n != min(len(k.want), 1) {
			t.Errorf("%s: %d incidents: %s", k.name, n, got.String())
		}
		for _, want := range k.want {
			if !strings.Contains(got.String(), want) {
				t.Errorf("%s: %s\nwant %q", k.name, got.String(), want)
			}
		}
	}
}

// TestFirstAfterRestart: a connection that a peer had asked for before its host was back counts as one from after it, and the host's first packet is
// that with which its identifications begin again.
func TestFirstAfterRestart(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	r := &agent.Result{RDMA: 8000, Packets: 8000, First: at(0), Last: at(30000), Taps: make([]fabricagent.Tap, 1)}
	for _, x := range [][4]int64{{1, 0x101, 1, 3000}, {1, 0x48, 12000, 29000}, {3, 0x301, 1, 29990}} {
		c := agent.Connection{Service: packet.RC, PairedBy: agent.ByCM, First: at(x[2]), FirstFrame: uint64(x[2]), Timing: &timing.Connection{}}
		for e := range c.Ends {
			c.Ends[e] = agent.End{Addr: host([2]byte{byte(x[0]), 2}[e]), QPN: uint32(x[1]), QPNKnown: true, Packets: 1000, Messages: 500, Last: at(x[3])}
			c.Timing.Ends[e].Active = timing.Activity{First: at(x[2]), Last: at(x[3])}
		}
		r.Connections = append(r.Connections, c)
	}
	stall := qp.Stall{Request: qp.StalledRequest{Frame: 3000}, Since: at(3000), Begun: at(3100), Last: at(4470), Packets: 7}
	stall.Rounds[qp.TimerExpired] = 7
	e := &r.Connections[0].Ends[1]
	e.Trouble, e.Stalled, e.Last = &qp.Trouble{Now: stall}, true, at(4470)
	r.Connections[1].Timing.Ends[0].Active.First = at(12200)
	again := agent.Restart{Was: 0xcd62, Is: 0x67, Before: 2999, After: 12100, From: at(2999), At: at(12100)}
	r.Numbered = []agent.Numbering{{Host: host(1), Steps: 999, Restarts: []agent.Restart{again}}}
	i := Of(r)[0]
	for _, want := range []string{
		"10.0.0.1 was down or cut off for 9.1s, from +3.000 s on, and had likely restarted when it was back, at +12.100 s",
		"(0x48, and 0x101 before)",
		"frame 12100, +12.100 s; the next connection had been asked for since +12.000 s, by 10.0.0.1",
	} {
		got := i.What
		for _, f := range i.Facts {
			got += "\n" + f.Text
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s\nwant %q", got, want)
		}
	}
}
