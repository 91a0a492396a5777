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

// TestHostSilence: where retries were used up while the host that was asked sent nothing on any connection, that is told with the hosts that went on meanwhile, and with the connections that
// outlasted it; where only idle connections are beside it, that they show nothing is said; not where one of them carried something meanwhile, or the capture lost packets.
func TestHostSilence(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	connection := func(from, to byte, timeout uint8, packets uint64, last int64, silences ...int64) agent.Connection {
		c := agent.Connection{Service: packet.RC, PairedBy: agent.ByCM, First: at(1), FirstFrame: uint64(from)<<8 + uint64(timeout), Timing: &timing.Connection{}}
		for k := range c.Ends {
			c.Ends[k] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, [2]byte{from, to}[k]}), QPN: uint32(from)<<4 + uint32(timeout), QPNKnown: true, Packets: packets, Messages: packets / 2, Last: at(last)}
			c.Ends[k].Settings = agent.Settings{Known: qp.KnowsTimeout | qp.KnowsRetryCnt, ByCM: qp.KnowsTimeout | qp.KnowsRetryCnt, Timeout: timeout, RetryCnt: 7}
			a := timing.Activity{First: at(1), Last: at(last)}
			for n := 0; n < len(silences); n += 2 {
				a.Silences = append(a.Silences, timing.Silence{From: at(silences[n]), To: at(silences[n+1]), Frames: [2]uint64{uint64(silences[n]), uint64(silences[n+1])}})
			}
			c.Timing.Ends[k].Active, c.Timing.Ends[k].Series.Width = a, int64(time.Second)
		}
		return c
	}
	const (
		said = "the capture holds nothing of 10.0.0.1 on any connection for 3s from +3.000 s on, while 10.0.0.3 went on: all retransmissions fall into that"
		idle = "the capture holds nothing of it on any connection for 3s from +3.000 s on: all retransmissions fall into that"
		link = "the link of 10.0.0.1 or its switch port, or the host itself,"
	)
	for _, k := range []struct {
		name             string
		set              func(r *agent.Result)
		label, want, fit string
	}{
		{"an outage", func(*agent.Result) {}, "peer", said, link},
		{"nobody else is known to go on", func(r *agent.Result) { r.Connections = r.Connections[:2] }, "peer", "the capture holds nothing of 10.0.0.1 on any connection for 3s from +3.000 s on: all retransmissions fall into that", "a link, switch or route of 10.0.0.1, or the host itself, that was down"},
		{"the other pauses, too", func(r *agent.Result) {
			for e := range 2 {
				r.Connections[2].Timing.Ends[e].Active.Silences = r.Connections[1].Timing.Ends[e].Active.Silences[1:]
			}
		}, "peer", "the capture holds nothing of 10.0.0.1 on any connection for 3s from +3.000 s on: all retransmissions fall into that", "a link, switch or route of 10.0.0.1, or the host itself, that was down"},
		{"beside an idle one", func(r *agent.Result) {
			for e := range 2 {
				r.Connections[1].Ends[e].Packets = 9
			}
		}, "but", idle, "a queue pair of 10.0.0.1 that was destroyed"},
		{"beside one that waits until then", func(r *agent.Result) {
			c := &r.Connections[1]
			for e := range 2 {
				c.Ends[e].Packets = 9
			}
			stall := qp.Stall{Since: at(3150), Begun: at(3500), Last: at(6049), Ended: at(6050)}
			stall.Rounds[qp.TimerExpired] = 4
			c.Ends[1].Trouble = &qp.Trouble{}
			c.Ends[1].Trouble.Longest[0] = stall
		}, "peer", said, link},
		{"again and again", func(r *agent.Result) {
			for n := range 2 {
				a := &r.Connections[n].Timing.Ends[0].Active
				for ms := int64(2600); ms > 1500; ms -= 350 {
					a.Silences = slices.Insert(a.Silences, 1, timing.Silence{From: at(ms), To: at(ms + 320)})
				}
			}
		}, "peer", said, link},
		{"it went on", func(r *agent.Result) { r.Connections[1].Timing.Ends[0].Active.Silences[1].To = at(3500) }, "peer", "10.0.0.1 went on sending on other connections: last 5.9s after this request; on 1 with 10.0.0.2, too", "a queue pair of 10.0.0.1 that was destroyed"},
		{"it asked for a connection", func(r *agent.Result) {
			r.Connections = append(r.Connections, connection(1, 2, 14, 9, 3500))
			r.Connections[3].First = at(3500)
			r.Connections[3].Timing.Ends[0].Active.First = at(3500)
		}, "peer", "10.0.0.1 carried nothing meanwhile on 1 other connection either, which had been busy, and went on there about 3.05s after this request", "a link, switch or route of 10.0.0.1"},
	} {
		r := &agent.Result{RDMA: 8000, Packets: 8000, First: at(0), Last: at(9000), Taps: make([]fabricagent.Tap, 1)}
		failed := connection(1, 2, 14, 1000, 3000)
		stall := qp.Stall{Request: qp.StalledRequest{Frame: 3000}, Since: at(3000), Begun: at(3100), Last: at(3900), Packets: 7}
		stall.Rounds[qp.TimerExpired] = 7
		failed.Ends[1].Trouble, failed.Ends[1].Stalled, failed.Ends[1].Last = &qp.Trouble{Now: stall}, true, at(3900)
		failed.Closed = agent.Closed{By: failed.Ends[0].Addr, At: at(6000), Frame: 6000}
		r.Connections = append(r.Connections, failed, connection(1, 2, 18, 1000, 8900, 1000, 1500, 3000, 6050), connection(3, 2, 14, 1000, 8990, 10, 60))
		failed.Timing.Ends[0].Active.Silences = []timing.Silence{{From: at(990), To: at(1500)}}
		k.set(r)
		list := Of(r)
		if len(list) == 0 {
			t.Fatalf("%s: nothing is told", k.name)
		}
		i := &list[0]
		facts := map[string]string{}
		for _, f := range i.Facts {
			facts[f.Label] = f.Text
		}
		if fits := strings.Join(i.FitsWith, "\n"); facts[k.label] != k.want || !strings.HasPrefix(fits, k.fit) || strings.Contains(fits, link) != (k.fit == link || k.label == "but") {
			t.Errorf("%s: %q: %q", k.name, facts, i.FitsWith)
		}
		outlasts := "QP 0x22 of 10.0.0.1 went on after it: ACK timeout 1.07s (code 18), retry_cnt 7: with these, retries last 8.59s to 34.4s; of this connection: ACK timeout 67.1ms (code 14), retry_cnt 7: with these, retries last 537ms to 2.15s"
		if got := facts["outlasts"]; (got == outlasts) != (k.label == "peer" && strings.Contains(k.want, "holds nothing")) || got != "" && got != outlasts {
			t.Errorf("%s: %q", k.name, got)
		}
	}
}
