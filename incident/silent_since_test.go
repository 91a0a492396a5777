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

// TestSilentSince: a connection on which a host had been busy until it was down, and that carries nothing after it, is told as likely given up; not
// one that was idle then, or pauses as long at other times, was disconnected, goes on, or on which the host sent no request.
func TestSilentSince(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	const want = "silent: 1 more connection of 10.0.0.1, busy before, not seen after that until the end of the capture: " +
		"since the 2nd time, with 10.0.0.5 QP 0x10 since +4.990 s; " +
		"likely given up at 10.0.0.1, whose retries did not reach the tap then\n"
	downs := []timing.Silence{{From: at(1000), To: at(2000), Frames: [2]uint64{100, 200}}, {From: at(5000), To: at(5500), Frames: [2]uint64{500, 550}}}
	for _, k := range []struct {
		name string
		set  func(r *agent.Result, c *agent.Connection)
		told bool
	}{
		{"silent since", func(*agent.Result, *agent.Connection) {}, true},
		{"idle then", func(_ *agent.Result, c *agent.Connection) { c.Ends[0].Last, c.Ends[1].Last = at(4000), at(4000) }, false},
		{"pauses", func(_ *agent.Result, c *agent.Connection) {
			c.Timing.Ends[1].Active.Silences = []timing.Silence{{From: at(2100), To: at(4700)}}
		}, false},
		{"disconnected", func(_ *agent.Result, c *agent.Connection) {
			c.Closed = agent.Closed{By: host(5), At: at(6000), Frame: 600}
		}, false},
		{"goes on", func(_ *agent.Result, c *agent.Connection) { c.Ends[0].Last, c.Ends[1].Last = at(29000), at(29000) }, false},
		{"asks nothing", func(_ *agent.Result, c *agent.Connection) { c.Ends[0].Messages = 0 }, false},
		{"few messages", func(_ *agent.Result, c *agent.Connection) { c.Ends[0].Messages, c.Ends[1].Messages = 20, 20 }, false},
		{"the capture ends soon", func(r *agent.Result, _ *agent.Connection) { r.Last = at(5600) }, false},
	} {
		r := &agent.Result{RDMA: 8000, Packets: 8000, First: at(0), Last: at(30000), Taps: make([]fabricagent.Tap, 1)}
		for _, hosts := range [][2]byte{{1, 2}, {3, 4}, {1, 5}} {
			c := agent.Connection{Service: packet.RC, First: at(1), FirstFrame: uint64(hosts[1]), Timing: &timing.Connection{}}
			for e := range c.Ends {
				c.Ends[e] = agent.End{Addr: host(hosts[e]), QPN: 16, QPNKnown: true, Packets: 1000, Messages: 500, Last: at(29000)}
				c.Timing.Ends[e].Active = timing.Activity{First: at(1), Last: at(29000)}
			}
			r.Connections = append(r.Connections, c)
		}
		r.Connections[0].Timing.Ends[0].Active.Silences = downs
		x := &qp.Trouble{}
		for n, until := range []int64{2000, 5500} {
			x.Longest[n] = qp.Stall{Since: at([]int64{1010, 5010}[n]), Begun: at([]int64{1100, 5100}[n]), Last: at(until - 1), Ended: at(until)}
			x.Longest[n].Rounds[qp.TimerExpired] = 3
		}
		r.Connections[0].Ends[1].Trouble = x
		over := &r.Connections[2]
		for e := range over.Ends {
			over.Ends[e].Last = at(4990)
			over.Timing.Ends[e].Active = timing.Activity{First: at(1), Last: at(4990), Silences: downs[:1]}
		}
		k.set(r, over)
		var got strings.Builder
		for _, i := range Of(r) {
			got.WriteString(i.What + "\n")
			for _, f := range i.Facts {
				got.WriteString(f.Label + ": " + f.Text + "\n")
			}
		}
		said := got.String()
		if strings.Contains(said, want) != k.told || strings.Contains(said, "given up") != k.told || !strings.Contains(said, "cut off twice") {
			t.Errorf("%s: %s", k.name, got.String())
		}
	}
}
