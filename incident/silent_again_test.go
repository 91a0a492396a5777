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

// TestSilentAgain: beside a request whose retries were used up while its host was silent it is told which busy connections fell silent with the host,
// for how long or when its request was answered, and not once more as one that went on, and when it was silent once more; not where it was idle as long at other times.
func TestSilentAgain(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	const (
		with = "2 connections of 10.0.0.1, which had been busy, fell silent with it and went on later: " +
			"with 10.0.0.4 QP 0x12 after 2s and with 10.0.0.6 QP 0x14 after 2s"
		again = "the capture holds nothing of 10.0.0.1 on any connection for 500ms from +9.000 s on (frames 9000 to 9500), " +
			"while 10.0.0.8 and 10.0.0.9 went on"
	)
	waited := strings.Replace(with, "QP 0x12 after 2s", "QP 0x12 (its request was answered after 2.3s)", 1)
	for name, idle := range map[string]int64{"once more": 0, "it is idle at times": 300, "its request waited": 300} {
		want := with
		r := &agent.Result{RDMA: 8000, Packets: 8000, First: at(0), Last: at(30000), Taps: make([]fabricagent.Tap, 1)}
		for n := range byte(4) {
			c := agent.Connection{Service: packet.RC, First: at(1), FirstFrame: uint64(1 + n), Timing: &timing.Connection{}}
			for e := range c.Ends {
				addr, last := host(2+2*n+byte(e)), int64(29000)
				if n < 3 && e == 0 {
					addr = host(1)
				}
				if n == 0 {
					last = []int64{2900, 4000}[e]
				}
				c.Ends[e] = agent.End{Addr: addr, QPN: uint32(15 + n + byte(e)), QPNKnown: true, Packets: 1000, Messages: 500, Last: at(last)}
				if n == 1 || n == 2 {
					c.Ends[1].Addr, c.Ends[1].QPN = host(2+2*n), uint32(16+2*n)
				}
				c.Timing.Ends[e].Active = timing.Activity{First: at(1), Last: at(last)}
			}
			if n == 1 || n == 2 {
				c.Timing.Ends[0].Active.Silences = []timing.Silence{
					{From: at(3000), To: at(5000), Frames: [2]uint64{3000, 5000}}, {From: at(9000), To: at(9500), Frames: [2]uint64{9000, 9500}},
				}
				if idle > 0 {
					for k := range int64(3) {
						from := 20000 + 1000*k
						s := timing.Silence{From: at(from), To: at(from + idle>>k), Frames: [2]uint64{uint64(from), uint64(from) + 1}}
						c.Timing.Ends[0].Active.Silences = append(c.Timing.Ends[0].Active.Silences, s)
					}
				}
			}
			r.Connections = append(r.Connections, c)
		}
		x := qp.Stall{Request: qp.StalledRequest{Frame: 2999}, Since: at(2999), Begun: at(3100), Last: at(4000), Packets: 7}
		x.Rounds[qp.TimerExpired] = 7
		r.Connections[0].Ends[1].Trouble, r.Connections[0].Ends[1].Stalled = &qp.Trouble{Now: x}, true
		if name == "its request waited" {
			y := qp.Stall{Request: qp.StalledRequest{Frame: 3010}, Since: at(3010), Begun: at(5300), Last: at(5300), Ended: at(5310), Packets: 1}
			y.Rounds[qp.TimerExpired] = 1
			r.Connections[1].Ends[1].Trouble, want = &qp.Trouble{Longest: [len(qp.Trouble{}.Longest)]qp.Stall{y}}, waited
		}
		var got string
		for _, f := range Of(r)[0].Facts {
			got += f.Label + ": " + f.Text + "\n"
		}
		if !strings.Contains(got, want) || strings.Contains(got, "\nwent on: ") || strings.Contains(got, again) != (idle == 0) {
			t.Errorf("%s: %s", name, got)
		}
	}
}
