package report

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
	pair "ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/timing"
	"ibwitness/wqe"
)

// pausing is a connection of NVMe that is silent at times, in ms after its first packet.
func pausing(silences ...timing.Silence) agent.Connection {
	const ms = int64(time.Millisecond)
	c := busy(wqe.Send, 300, 0)
	c.Upper = &agent.Upper{Protocol: "NVMe over RDMA", Answered: true, Answers: 300, Took: 30 * time.Millisecond, Slowest: &agent.Operation{Since: 1, Ended: 1 + ms}}
	for k := range c.Ends {
		c.Ends[k].Packets, c.Ends[k].Last = 900, c.First+9000*ms
		c.Timing.Ends[k].Active = timing.Activity{First: c.First, Last: c.Ends[k].Last}
		for _, s := range silences {
			s.From, s.To = c.First+s.From*ms, c.First+s.To*ms
			c.Timing.Ends[k].Active.Silences = append(c.Timing.Ends[k].Active.Silences, s)
		}
	}
	return c
}

// TestCommandless: a time in which an end sends no command and waits for none is told while its host goes on on another connection; not where a command waited as long, where its peer sent something, where the host was silent
// there too, where there were few commands, or where anything was retransmitted.
func TestCommandless(t *testing.T) {
	const ms = int64(time.Millisecond)
	nvme := pausing
	const told = "Pause: 10.0.0.1 QP 0x20 sent no command for 3s from +2.000000 s on (frames 7 to 8) and waited for none (NVMe over RDMA), while 10.0.0.1 went on with 10.0.0.2 on 1 other connection: it seems that its program posted nothing there."
	for _, k := range []struct {
		name   string
		change func(c, other *agent.Connection)
		want   string
	}{
		{"a pause", func(*agent.Connection, *agent.Connection) {}, told},
		{"both pause in turn", func(_, other *agent.Connection) { *other = nvme(timing.Silence{From: 7000, To: 7900}) }, told},
		{"a command waited", func(c, _ *agent.Connection) { c.Upper.Slowest.Ended += 3000 * ms }, ""},
		{"a command waits", func(c, _ *agent.Connection) { c.Upper.Open = 1 }, ""},
		{"its peer goes on first", func(c, _ *agent.Connection) {
			c.Timing.Ends[0].Active.Silences[0].To += ms
		}, ""},
		{"the host is silent too", func(_, other *agent.Connection) { *other = nvme(timing.Silence{From: 2500, To: 2900}) }, ""},
		{"few commands", func(c, _ *agent.Connection) { c.Upper.Answers = 20 }, ""},
		{"packets are far apart", func(c, _ *agent.Connection) { c.Ends[0].Packets, c.Ends[1].Packets = 99, 99 }, ""},
		{"retransmitted", func(c, _ *agent.Connection) { c.Ends[0].Trouble = &pair.Trouble{} }, ""},
	} {
		c, other := nvme(timing.Silence{From: 2000, To: 5000, Frames: [2]uint64{7, 8}}), nvme()
		k.change(&c, &other)
		r := &agent.Result{RDMA: 6, Packets: 6, First: c.First, Last: c.First + 9000*ms, Taps: make([]fabricagent.Tap, 1), Connections: []agent.Connection{c, other}}
		if k.want != "" { // who asks for a connection that is refused does not ask for that
			elsewhere := *r
			elsewhere.Findings = []rule.Finding{{
				Rule: rule.EvReject, Class: rule.Event, Time: r.First, Frame: 3, Detail: "consumer reject (reason 28)",
				Accused: rule.Endpoint{Addr: packet.IPv4Addr([]byte{10, 0, 0, 9})}, Peer: rule.Endpoint{Addr: packet.IPv4Addr([]byte{10, 0, 0, 8})},
			}}
			if got := reportOf(t, &elsewhere); strings.Contains(got, "Pause: ") || !strings.Contains(got, "was refused") {
				t.Errorf("%s: %s", k.name, got)
			}
		}
		if got := reportOf(t, r); k.want == "" && strings.Contains(got, "Pause: ") || !strings.Contains(got, k.want) {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}
