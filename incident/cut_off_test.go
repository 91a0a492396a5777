package incident

import (
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

// TestCutOffUnasked: a host to which nobody sent a request was cut off where two queue pairs of it go on with later PSNs, which their peers ask for at once, while others went on; then so it was where it lost its busy connections.
func TestCutOffUnasked(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	const (
		twice  = "10.0.0.1 was cut off twice, while 10.0.0.2 and 10.0.0.3 went on: 1s from +2.000 s on; and up to 4s from +6.000 s on, in which it lost its connections."
		thrice = "10.0.0.1 was cut off 3 times, while 10.0.0.2 and 10.0.0.3 went on: 1s from +2.000 s on; 500ms from +4.000 s on; and up to 4s from +6.000 s on, in which it lost"
		once   = "10.0.0.1 was cut off once, while 10.0.0.2 and 10.0.0.3 went on: 1s from +2.000 s on."
		unseen = "The capture shows nothing between"
	)
	connection := func(n byte, qpn uint32, first, last int64, silent ...timing.Silence) agent.Connection {
		c := agent.Connection{Service: packet.RC, First: at(first), FirstFrame: uint64(first), Timing: &timing.Connection{}}
		for e := range c.Ends {
			c.Ends[e] = agent.End{Addr: host([2]byte{n, 2}[e]), QPN: qpn, QPNKnown: true, Packets: 1000, Messages: 500, Last: at(last)}
			c.Timing.Ends[e].Active = timing.Activity{First: at(first), Last: at(last), Frames: [2]uint64{uint64(first), uint64(last)}, Silences: silent}
		}
		return c
	}
	oneMore := func(asked bool, idle int64, announced ...int64) func(*agent.Result) {
		return func(r *agent.Result) {
			for n := range 2 {
				for e := range 2 {
					x := &r.Connections[n].Timing.Ends[e].Active
					x.Silences = append(x.Silences, timing.Silence{From: at(4000), To: at(4500)})
					if idle > 0 {
						x.Silences = append(x.Silences, timing.Silence{From: at(5000), To: at(5000 + idle)})
					}
				}
			}
			if asked {
				f := r.Findings[0]
				f.Time, f.Frame = at(4500)+9000, 4501
				r.Findings = append(r.Findings, f)
			}
			for _, ms := range announced {
				arp := fabricagent.Presence{Host: host(1), To: host(1), By: fabricagent.ByARP}
				r.Signs = append(r.Signs, agent.Sign{Presence: arp, At: at(ms), Frame: uint64(ms)})
			}
		}
	}
	numbersOf := func(packets uint16) func(*agent.Result) {
		return func(r *agent.Result) {
			r.Numbered = []agent.Numbering{{Host: host(1), Holes: []agent.Hole{{Packets: packets, From: at(2000), To: at(3000)}}}}
		}
	}
	for _, k := range []struct {
		name string
		set  func(r *agent.Result)
		want string // at the beginning of some incident
		not  string
	}{
		{"twice", func(*agent.Result) {}, twice, unseen},
		{"once", func(r *agent.Result) { // the connections go on
			for n := range 2 {
				c := &r.Connections[n]
				c.Closed = agent.Closed{}
				for e := range c.Ends {
					c.Ends[e].Last, c.Timing.Ends[e].Active.Last = at(29000), at(29000)
				}
			}
		}, once, unseen},
		{"once more, as one queue pair shows", oneMore(true, 0), thrice, "cut off twice"},
		{"only idle once more", oneMore(false, 0), twice, "3 times"},
		{"often idle for as long", oneMore(true, 400), twice, "3 times"},
		{"announced after each", oneMore(true, 400, 3100, 4600, 10100), thrice, "cut off twice"},
		{"announced, and idle before", oneMore(false, 0, 3100, 4600, 10100), twice, "3 times"},
		{"announced at once", oneMore(false, 400, 3100, 4499, 10100), strings.Replace(thrice, "500ms", "499ms", 1), "cut off twice"},
		{"announced after the others", oneMore(true, 0, 3100, 10100), twice, "3 times"},
		{"announced at another time, too", oneMore(true, 0, 3100, 4600, 10100, 25000), twice, "3 times"},
		{"one queue pair", func(r *agent.Result) { r.Findings = r.Findings[:1] }, unseen, "cut off"},
		{"asked for later", func(r *agent.Result) { r.Findings[1].Time = at(3002) }, unseen, "cut off"},
		{"the tap had seen what is asked for", func(r *agent.Result) { r.Connections[0].Ends[0].Trouble.Asked.After = 1 }, unseen, "cut off"},
		{"nobody goes on", func(r *agent.Result) { r.Connections = r.Connections[:4] }, unseen, "cut off"},
		{"all pause", func(r *agent.Result) {
			for e := range 2 {
				r.Connections[4].Timing.Ends[e].Active.Silences = []timing.Silence{{From: at(2001), To: at(3002)}}
			}
		}, unseen, "cut off"},
		{"its numbers show that it sent one packet", numbersOf(1), unseen, "cut off"},
		{"its numbers show that it sent some", numbersOf(5), twice, unseen},
		{"its numbers are missing before and after", func(r *agent.Result) {
			r.Numbered = []agent.Numbering{{Host: host(1), Holes: []agent.Hole{{Packets: 9, From: at(1000), To: at(1001)}, {Packets: 9, From: at(3000), To: at(3001)}}}}
		}, unseen, "cut off"},
		{"it counts from the beginning again", func(r *agent.Result) {
			r.Numbered = []agent.Numbering{{Host: host(1), Restarts: []agent.Restart{{From: at(2000), At: at(3000)}}}}
		}, twice, unseen},
		{"a capture that lost packets", func(r *agent.Result) { r.Gaps = 3 }, unseen, "cut off"},
		{"idle now and then", func(r *agent.Result) {
			for n := range 2 {
				for e := range 2 {
					r.Connections[n].Ends[e].Packets = 20
				}
			}
		}, unseen, "cut off"},
		{"it connects to nobody again", func(r *agent.Result) { r.Connections = append(r.Connections[:2], r.Connections[4]) }, once, "lost its connections"},
		{"one of its connections goes on", func(r *agent.Result) {
			r.Connections[1].Closed = agent.Closed{}
			for e := range 2 {
				r.Connections[1].Ends[e].Last, r.Connections[1].Timing.Ends[e].Active.Last = at(29000), at(29000)
			}
		}, once, "lost its connections"},
	} {
		r := &agent.Result{RDMA: 8000, Packets: 8000, First: at(0), Last: at(30000), Taps: make([]fabricagent.Tap, 1)}
		for n := range uint32(2) {
			c := connection(1, 16+n, 1, 6000, timing.Silence{From: at(2000), To: at(3000), Frames: [2]uint64{2000, 3000}})
			c.Closed = agent.Closed{At: at(10000), By: host(1), Frame: 10000}
			x := &qp.Trouble{}
			x.Asked.Before = 1
			x.Longest[0] = qp.Stall{Since: at(1999), Begun: at(3000), Ended: at(3000), Before: true, Frames: qp.StallFrames{Ended: 3000}}
			c.Ends[0].Trouble = x
			r.Connections = append(r.Connections, c)
			f := rule.Finding{Rule: rule.EvSeqNAK, Class: rule.Event, Time: at(3000) + 9000, Frame: uint64(3001 + n)}
			f.Accused.Addr, f.Accused.QPN, f.Peer.Addr, f.Peer.QPN = host(2), 16+n, host(1), 16+n
			r.Findings = append(r.Findings, f)
		}
		for n := range uint32(2) {
			r.Connections = append(r.Connections, connection(1, 32+n, 15000, 29000))
		}
		r.Connections = append(r.Connections, connection(3, 48, 1, 29500))
		k.set(r)
		var got strings.Builder
		for _, i := range Of(r) {
			got.WriteString("\n" + i.What)
			if went := k.name != "nobody goes on" && k.name != "all pause" && k.name != "a capture that lost packets"; strings.HasPrefix(i.What, unseen) && strings.Contains(strings.Join(i.FitsWith, "; "), "a tap that recorded nothing") == went {
				t.Errorf("%s: %v", k.name, i.FitsWith)
			}
		}
		if !strings.Contains(got.String(), "\n"+k.want) || strings.Contains(got.String(), k.not) {
			t.Errorf("%s: %s\nwant %q, and not %q", k.name, got.String(), k.want, k.not)
		}
	}
}
