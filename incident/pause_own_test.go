package incident_test

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/incident"
	"ibwitness/link"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/timing"
)

// inPeriods has the pauses of a port come in two periods, each of bunches that are 6 ms apart, with messages in these, between them and after.
func inPeriods(p *link.Paused, c *agent.Connection) {
	ms := int64(time.Millisecond)
	p.Bunches, c.Timing.Ends[0].Sent = nil, nil
	for _, since := range []int64{second(1), second(1) + 290*ms} {
		for k := range int64(8) {
			p.Bunches = append(p.Bunches, link.Bunch{Lasting: link.Lasting{From: since + 14*k*ms, To: since + (14*k+8)*ms}, Pauses: 6})
		}
		for k := range int64(3) {
			c.Timing.Ends[0].Sent = append(c.Timing.Ends[0].Sent, timing.Sent{Begin: since + k*30*ms, End: since + (k*30+2)*ms, Bytes: 65536, Packets: 16})
		}
	}
	for k := range int64(3) {
		from := second(1) + (120+50*k)*ms
		c.Timing.Ends[0].Sent = append(c.Timing.Ends[0].Sent, timing.Sent{Begin: from, End: from + 20_000, Bytes: 65536, Packets: 16})
	}
}

// TestOwnPause: of a host that has its own link pause in bursts it is told that it is that host, when the bursts or few periods were, and how much
// longer messages to it took in these; not where a router may have sent the frames, where pauses are evenly apart, or where messages took as long.
func TestOwnPause(t *testing.T) {
	const own = ", that of 10.0.0.2, whose own packets come from it with a TTL of 64, as no router sends them, had the other end"
	const bursts = "manner: it resumed each time, in 5 bursts of 20 pauses each, for 3ms, 100ms from one to the next: paused for 66 % of these"
	const effect = "effect: messages of 65,536 bytes to 10.0.0.2 took 2ms from the first packet to the last in the median in these bursts (5), " +
		"and 20µs otherwise (5); nothing sent to it was retransmitted, and the capture shows no mark (CE) on it"
	const slow, work = "fits: a host that takes data more slowly than its link brings it", "more senders than its link has room for"
	host := packet.IPv4Addr([]byte{10, 0, 0, 2})
	for _, tt := range []struct {
		name      string
		change    func(p *link.Paused, c *agent.Connection)
		want, not []string
	}{
		{"its own", func(*link.Paused, *agent.Connection) {}, []string{own, bursts, effect, slow, "next: on 10.0.0.2: its PCIe link"}, []string{work, "router before", "every 1"}},
		{"of a router", func(p *link.Paused, _ *agent.Connection) { p.Own = link.Own{} }, []string{", likely that of 10.0.0.2, as packets", bursts, effect, work, "or of a router before"}, []string{slow}},
		{"of another host", func(p *link.Paused, _ *agent.Connection) { p.Own.Host = packet.IPv4Addr([]byte{10, 0, 0, 7}) }, []string{"or of a router before"}, []string{slow}},
		{"evenly apart", func(p *link.Paused, _ *agent.Connection) { p.Bunches = p.Bunches[:1] }, []string{own, slow, "a pause began every 4.03ms on average"}, []string{"bursts", "effect"}},
		{"in two periods", inPeriods, []string{
			own, "manner: it resumed each time, in 2 periods (+1000000001.000 s for 106ms and +1000000001.290 s for 106ms): in these a pause began every 2.21ms on average",
			"took 2ms from the first packet to the last in the median in these periods (6), and 20µs otherwise (3)",
		}, []string{"bursts"}},
		{"in two that are hardly apart", func(p *link.Paused, c *agent.Connection) {
			inPeriods(p, c)
			for k := range p.Bunches[8:] {
				p.Bunches[8+k].From -= int64(140 * time.Millisecond)
				p.Bunches[8+k].To -= int64(140 * time.Millisecond)
			}
		}, []string{own, "a pause began every 4.03ms on average"}, []string{"periods", "effect"}},
		{"as long", func(_ *link.Paused, c *agent.Connection) {
			for k := range c.Timing.Ends[0].Sent {
				c.Timing.Ends[0].Sent[k].End = c.Timing.Ends[0].Sent[k].Begin + 20_000
			}
		}, []string{bursts}, []string{"effect"}},
		{"marked", func(_ *link.Paused, c *agent.Connection) { c.Timing.Ends[0].Marked = 3 }, []string{"and 20µs otherwise (5)\n"}, []string{"no mark"}},
		{"retransmitted", func(_ *link.Paused, c *agent.Connection) { c.Ends[0].Trouble = new(qp.Trouble) }, []string{"and 20µs otherwise (5)\n"}, []string{"no mark"}},
		{"that does not let go", func(p *link.Paused, _ *agent.Connection) {
			p.Begun, p.Frames, p.Resumed, p.Longest = 2, 400, 0, 50*time.Millisecond
		}, []string{own, "a pause storm"}, []string{"a port after it", "PFC watchdog"}},
	} {
		ms := int64(time.Millisecond)
		p := link.Paused{
			Priority: 3, Time: second(1), Frame: 7, LastTime: second(1) + 403*ms, LastFrame: 900, Frames: 200, Resumed: 100, Begun: 100, Least: 10 * time.Millisecond,
			Most: 10 * time.Millisecond, Longest: 100 * time.Microsecond, Hosts: []packet.Addr{host}, Own: link.Own{Host: host, HopLimit: 64},
		}
		c := agent.Connection{Timing: new(timing.Connection), Service: packet.RC}
		c.Ends[0].Addr, c.Ends[1].Addr = packet.IPv4Addr([]byte{10, 0, 0, 1}), host
		for k := range int64(5) {
			from := second(1) + k*100*ms
			p.Bunches = append(p.Bunches, link.Bunch{Lasting: link.Lasting{From: from, To: from + 3*ms}, Pauses: 20})
			c.Timing.Ends[0].Sent = append(c.Timing.Ends[0].Sent,
				timing.Sent{Begin: from, End: from + 2*ms, Bytes: 65536, Packets: 16},
				timing.Sent{Begin: from + 50*ms, End: from + 50*ms + 20_000, Bytes: 65536, Packets: 16})
		}
		tt.change(&p, &c)
		var b strings.Builder
		for _, i := range incident.Of(&agent.Result{Last: second(3), Paused: []link.Paused{p}, Connections: []agent.Connection{c}}) {
			b.WriteString(i.What + "\n")
			for _, f := range i.Facts {
				b.WriteString(f.Label + ": " + f.Text + "\n")
			}
			b.WriteString("fits: " + strings.Join(i.FitsWith, "; or ") + "\nnext: " + strings.Join(i.Next, "; ") + "\n")
		}
		for _, want := range tt.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: %s\nwant %q", tt.name, b.String(), want)
			}
		}
		for _, not := range tt.not {
			if strings.Contains(b.String(), not) {
				t.Errorf("%s: %s\nand not %q", tt.name, b.String(), not)
			}
		}
	}
}
