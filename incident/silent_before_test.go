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

// TestSilentBefore: of a peer that answers no more it is told when it had been silent before, and its queue pair went on, also where no other host
// shows that it was down; not where one request was lost then, nothing was owed most of the time, or it was seen.
func TestSilentBefore(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	const (
		told = "Twice the capture holds nothing of 10.0.0.1 while requests to it waited: " +
			"4.4s from +2.500 s on and "
		fits = "a link of 10.0.0.1, of 10.0.0.2 or between them that fails and comes back, or 10.0.0.1 itself that stops, again and again"
	)
	until := "from +9.400 s on until the end. The 2nd time: 10.0.0.2 QP 0x10 sent"
	for _, k := range []struct {
		name string
		set  func(r *agent.Result, before *qp.Stall)
		want bool
	}{
		{"twice", func(*agent.Result, *qp.Stall) {}, true},
		{"one request was lost before", func(_ *agent.Result, s *qp.Stall) { s.Rounds[qp.TimerExpired] = 1 }, false},
		{"nothing was owed for most of it", func(_ *agent.Result, s *qp.Stall) { s.Since = at(5500) }, false},
		{"answered late", func(_ *agent.Result, s *qp.Stall) { s.Late = true }, false},
		{"it was there again at the end", func(r *agent.Result, _ *qp.Stall) {
			r.Signs = []agent.Sign{{Presence: fabricagent.Presence{Host: host(1)}, At: at(12100), Frame: 12100}}
			until = "2.7s from +9.400 s on. The 2nd time: 10.0.0.2 QP 0x10 sent"
		}, true},
		{"it was seen", func(r *agent.Result, _ *qp.Stall) {
			r.Signs = []agent.Sign{{Presence: fabricagent.Presence{Host: host(1)}, At: at(2550), Frame: 2550}}
		}, false},
		{"another host was silent too", func(r *agent.Result, _ *qp.Stall) {
			c := r.Connections[0]
			for e := range c.Ends {
				c.Ends[e] = agent.End{Addr: host(3 + byte(e)), QPN: 16, QPNKnown: true, Packets: 1000, Messages: 500, Last: at(2500)}
			}
			c.Timing = nil
			r.Connections = append(r.Connections, c)
		}, false},
		{"a capture that lost packets", func(r *agent.Result, _ *qp.Stall) { r.Gaps = 3 }, false},
	} {
		r := &agent.Result{RDMA: 8000, Packets: 8000, First: at(0), Last: at(12500), Taps: make([]fabricagent.Tap, 1)}
		c := agent.Connection{Service: packet.RC, First: at(1), FirstFrame: 1, Timing: &timing.Connection{}}
		for e := range c.Ends {
			c.Ends[e] = agent.End{Addr: host(1 + byte(e)), QPN: 16, QPNKnown: true, Packets: 1000, Messages: 500, Last: at(7500 + 4700*int64(e))}
			c.Timing.Ends[e].Active = timing.Activity{First: at(1), Last: c.Ends[e].Last}
		}
		c.Timing.Ends[0].Active.Silences = []timing.Silence{{From: at(2490), To: at(6900), Frames: [2]uint64{2490, 6900}}}
		x := &qp.Trouble{Now: qp.Stall{Request: qp.StalledRequest{Frame: 9400}, Since: at(9400), Begun: at(9900), Last: at(12200), Packets: 2}}
		x.Now.Rounds[qp.TimerExpired] = 2
		x.Longest[0] = qp.Stall{Since: at(2500), Begun: at(4700), Last: at(7000), Ended: at(7003), Packets: 2}
		x.Longest[0].Rounds[qp.TimerExpired] = 2
		c.Ends[1].Trouble, c.Ends[1].Stalled = x, true
		r.Connections = []agent.Connection{c}
		k.set(r, &x.Longest[0])
		i := &Of(r)[0]
		if i.Kind != Unanswered || strings.HasPrefix(i.What, told+until) != k.want || strings.Contains(strings.Join(i.FitsWith, "\n"), fits) != k.want {
			t.Errorf("%s: %v %s %q", k.name, i.Kind, i.What, i.FitsWith)
		}
	}
}
