package report

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	pair "ibwitness/qp"
	"ibwitness/timing"
	"ibwitness/wqe"
)

// TestSlowSender: a host is told that sends the packets within a message at half the rate of the others or less; not one that was told to slow down, that answers READs, and none where all send as fast.
func TestSlowSender(t *testing.T) {
	const told = "Slow sender: 10.0.0.2 sends the packets within a message at 16.4 Gbit/s of payload in the median (20 messages of 8 packets or more, while it sends no other of several), and the 3 other hosts that send such messages at 65.5 Gbit/s " +
		"(each of 36.0 KiB takes 16µs, theirs 4µs: 4.0 times as long, from its first one on), though ACKs come to it as soon: its port, or a link between it and the tap, may be slower or limited (as by a rate limit of its queue pair), " +
		"or its PCIe. next on 10.0.0.2: link speed (ethtool), rate limits and PCIe width (lspci -vv)"
	for _, k := range []struct {
		name   string
		times  int64
		change func(c *agent.Connection)
		want   string
	}{
		{"slow", 4, func(*agent.Connection) {}, told},
		{"as fast", 1, func(*agent.Connection) {}, ""},
		{"told to slow down", 4, func(c *agent.Connection) { c.Ends[0].Trouble = &pair.Trouble{Notified: new(pair.Notified)} }, ""},
		{"answers READs", 4, func(c *agent.Connection) { c.Timing.Ends[1].Ops[wqe.Read] = new(timing.Operation) }, ""},
	} {
		r := &agent.Result{RDMA: 1, Packets: 1, First: 1}
		for h := range byte(4) {
			c := agent.Connection{Service: packet.RC, First: 1, Timing: timing.New(nil)}
			c.Ends[0].Addr, c.Ends[1].Addr = packet.IPv4Addr([]byte{10, 0, 0, h}), packet.IPv4Addr([]byte{10, 0, 0, (h + 1) % 4})
			e := &c.Timing.Ends[0]
			e.Acks.Every = 1
			for i := range 20 {
				s := timing.Sent{Begin: 1 + int64(i)*int64(time.Millisecond), Bytes: 9 * 4096, Packets: 9}
				if s.End = s.Begin + 4000; h == 2 {
					s.End = s.Begin + 4000*k.times
				}
				e.Sent = append(e.Sent, s)
				e.Acks.List = append(e.Acks.List, timing.AckWait{At: s.End, Took: 5 * time.Microsecond})
			}
			if h == 2 {
				k.change(&c)
			}
			r.Connections = append(r.Connections, c)
		}
		if got := reportOf(t, r); k.want != "" && !strings.Contains(got, k.want) || k.want == "" && strings.Contains(got, "Slow sender") {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}
