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
	"ibwitness/timing"
)

// TestFrozen: interruptions of connections with one host are one incident where it was silent on all of them and then answered what had come,
// without another retransmission; not where what was sent had to be retransmitted when it was back, where it had lost packets itself, or was
// seen meanwhile.
func TestFrozen(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	stall := func(since, begun, last, ended int64) qp.Stall {
		s := qp.Stall{Request: qp.StalledRequest{Frame: uint64(since)}, Since: at(since), Begun: at(begun), Last: at(last), Ended: at(ended), Packets: 3}
		s.Rounds[qp.TimerExpired] = 3
		return s
	}
	const (
		told = "10.0.0.1 froze twice, for 300ms to 400ms: it sent nothing on any of its 3 connections, " +
			"and then answered what had come meanwhile; nothing of that was lost."
		apart = "10.0.0.1 froze"
	)
	lost := func(rounds uint32) func(r *agent.Result) {
		return func(r *agent.Result) {
			x := &qp.Trouble{Longest: [len(qp.Trouble{}.Longest)]qp.Stall{stall(1255, 1265, 1290, 1301)}}
			x.Sum = qp.Stalls{Count: 1, Begun: at(1265), Last: at(1290), Lost: 1}
			x.Sum.Rounds[qp.TimerExpired], x.Again.Packets = rounds, 3
			r.Connections[2].Ends[1].Trouble = x
		}
	}
	for _, k := range []struct {
		name string
		set  func(r *agent.Result)
		want bool
		lost uint32 // rounds of retransmission of a connection to it
	}{
		{"it froze", func(*agent.Result) {}, true, 0},
		{"all that is retransmitted to it is so while it is frozen", lost(3), true, 3},
		{"and more is retransmitted to it", lost(4), true, 4},
		{"it retransmits what was answered", func(r *agent.Result) {
			s := stall(990, 1302, 1303, 1304)
			s.Acked = true
			r.Connections[2].Ends[0].Trouble = &qp.Trouble{Longest: [len(qp.Trouble{}.Longest)]qp.Stall{s}}
		}, true, 0},
		{"what it sent was lost", func(r *agent.Result) {
			x := &qp.Trouble{Longest: [len(qp.Trouble{}.Longest)]qp.Stall{stall(990, 1302, 1303, 1304), stall(4990, 5402, 5403, 5404)}}
			r.Connections[2].Ends[0].Trouble = x
		}, false, 0},
		{"what was sent to it was lost", func(r *agent.Result) {
			for n := range 2 {
				for j := range 2 {
					s := &r.Connections[n].Ends[1].Trouble.Longest[j]
					s.Last = s.Ended - 1
				}
			}
		}, false, 0},
		{"another request is retransmitted when it is back", func(r *agent.Result) {
			x := &qp.Trouble{Longest: [len(qp.Trouble{}.Longest)]qp.Stall{stall(1100, 1200, 1302, 1303), stall(5100, 5200, 5402, 5403)}}
			r.Connections[2].Ends[1].Trouble = x
		}, false, 0},
		{"one connection waits", func(r *agent.Result) { r.Connections[1].Ends[1].Trouble = nil }, false, 0},
		{"it went on elsewhere", func(r *agent.Result) {
			r.Numbered = []agent.Numbering{{Host: host(1), Steps: 999, Holes: []agent.Hole{
				{Packets: 9, Before: 1, After: 2, From: at(1000), To: at(1300)}, {Packets: 9, Before: 1, After: 2, From: at(5000), To: at(5400)},
			}}}
		}, false, 0},
		{"it was seen", func(r *agent.Result) {
			r.Signs = []agent.Sign{{Presence: fabricagent.Presence{Host: host(1)}, At: at(1100), Frame: 1100}, {Presence: fabricagent.Presence{Host: host(1)}, At: at(5100), Frame: 5100}}
		}, false, 0},
		{"it may have answered pings", func(r *agent.Result) {
			r.Echoes = []agent.Echo{{Addr: host(1), Replies: 9, First: at(1), Last: at(9000)}}
		}, false, 0},
	} {
		r := &agent.Result{RDMA: 8000, Packets: 8000, First: at(0), Last: at(30000), Taps: make([]fabricagent.Tap, 1)}
		for n := range byte(4) {
			c := agent.Connection{Service: packet.RC, First: at(1), FirstFrame: uint64(1 + n), Timing: &timing.Connection{}}
			for e := range c.Ends {
				addr := host(2 + 2*n + byte(e))
				if n < 3 && e == 0 {
					addr = host(1)
				}
				c.Ends[e] = agent.End{Addr: addr, QPN: uint32(16 + n), QPNKnown: true, Packets: 1000, Messages: 500, Last: at(29000)}
				c.Timing.Ends[e].Active = timing.Activity{First: at(1), Last: at(29000)}
			}
			if n < 3 {
				c.Timing.Ends[0].Active.Silences = []timing.Silence{
					{From: at(1000), To: at(1300), Frames: [2]uint64{1000, 1300}}, {From: at(5000), To: at(5400), Frames: [2]uint64{5000, 5400}},
				}
			}
			if n < 2 {
				c.Ends[1].Trouble = &qp.Trouble{Longest: [len(qp.Trouble{}.Longest)]qp.Stall{stall(1010, 1080, 1220, 1301), stall(5010, 5080, 5300, 5401)}}
			}
			r.Connections = append(r.Connections, c)
		}
		k.set(r)
		list := Of(r)
		var all strings.Builder
		for n := range list {
			all.WriteString(list[n].What + "\n")
		}
		got := all.String()
		if k.lost > 0 {
			n := slices.IndexFunc(list, func(i Incident) bool { return i.Kind == Loss })
			if n < 0 || !strings.HasPrefix(list[n].FitsWith[0], "that 10.0.0.1 froze, see there") ||
				strings.Contains(strings.Join(append(list[n].FitsWith, list[n].Next...), "; "), "queue that drops") != (k.lost > 3) {
				t.Errorf("%s: %d of %+v", k.name, n, list)
			}
		}
		if k.want && (!strings.HasPrefix(got, told) || list[0].Connections != 2) || !k.want && strings.Contains(got, apart) {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}
