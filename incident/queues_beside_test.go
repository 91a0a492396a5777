package incident

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/timing"
	"ibwitness/upper"
)

// TestQueuesBeside: of a command that has no answer it is told on which queue it is, where a REQ says so, and how many commands its server answered on other connections of the same host meanwhile; not where it answered
// none, or only those of another host or protocol.
func TestQueuesBeside(t *testing.T) {
	const s = int64(time.Second)
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	for _, k := range []struct {
		name string
		set  func(other *agent.Connection, r *agent.Result)
		want string
	}{
		{"some were answered", func(*agent.Connection, *agent.Result) {}, "10.0.0.2 answered at least 2 commands of 10.0.0.1 on 1 other connection meanwhile"},
		{"many were", func(o *agent.Connection, _ *agent.Result) {
			o.Timing = &timing.Connection{Commands: new(timing.Waits)}
			for n := range int64(400) {
				o.Timing.Commands.Add(time.Millisecond, s+n*s/50, 5)
			}
		}, "10.0.0.2 answered at least 396 commands of 10.0.0.1 on 1 other connection meanwhile"},
		{"one was soon after it began", func(o *agent.Connection, _ *agent.Result) { o.Upper.Recent = []int64{s, 2 * s, 10 * s} }, ""},
		{"none were then", func(o *agent.Connection, _ *agent.Result) { o.Upper.Recent = []int64{s, 10 * s} }, ""},
		{"those of another host", func(o *agent.Connection, _ *agent.Result) { o.Ends[0].Addr = host(3) }, ""},
		{"those that it asks of the host", func(o *agent.Connection, _ *agent.Result) { o.Upper.Slowest.From = 1 }, ""},
		{"of another protocol", func(o *agent.Connection, _ *agent.Result) { o.Upper.Protocol = "iSER" }, ""},
		{"the capture lost packets", func(_ *agent.Connection, r *agent.Result) { r.Dropped = 1 }, ""},
	} {
		connection := func(qpn uint32) agent.Connection {
			c := agent.Connection{Service: packet.RC, First: 1, Upper: &agent.Upper{Protocol: "NVMe over RDMA", Queue: "queue 3", Answered: true, Counts: upper.Counts{Open: 1}}}
			for e := range c.Ends {
				c.Ends[e] = agent.End{Addr: host(byte(e + 1)), QPN: qpn, QPNKnown: true, Packets: 10, Last: 10 * s}
			}
			return c
		}
		c, other := connection(0x20), connection(0x21)
		c.Upper.Oldest = &agent.Operation{Name: "NVMe Read", Since: s, Frame: 20}
		other.Upper.Recent, other.Upper.Slowest = []int64{s, 2 * s, 5 * s, 10 * s}, &agent.Operation{Since: s / 2, Ended: s}
		r := &agent.Result{RDMA: 20, First: 1, Last: 9 * s}
		k.set(&other, r)
		r.Connections = []agent.Connection{c, other}
		list := slices.DeleteFunc(Of(r), func(i Incident) bool { return i.Kind == Untrusted })
		if len(list) != 1 || list[0].Kind != Waiting {
			t.Fatalf("%s: %+v", k.name, list)
		}
		i := &list[0]
		if told := slices.Contains(i.Facts, Fact{"others", k.want}); told != (k.want != "") || !slices.Contains(i.Facts, Fact{"command", "NVMe over RDMA, queue 3 as its REQ says, in frame 20"}) ||
			strings.Contains(strings.Join(i.FitsWith, ";"), "a thread of the program on 10.0.0.2 that serves this queue pair, and not the others") != told {
			t.Errorf("%s: %q %q", k.name, i.Facts, i.FitsWith)
		}
	}
}

// TestServedAlone: where the server answered commands on the same namespace on other queues meanwhile, the thread of this queue comes before disks, and it is the first to look at; not where it
// answered those on another namespace, or before.
func TestServedAlone(t *testing.T) {
	const s = int64(time.Second)
	for _, k := range []struct {
		name   string
		on     string
		newest int64
		alone  bool
	}{
		{"the same", "namespace 1", 5 * s, true},
		{"another", "namespace 2", 5 * s, false},
		{"the same, soon after it began", "namespace 1", s + 1, false},
	} {
		var r agent.Result
		r.RDMA, r.First, r.Last = 20, 1, 9*s
		for n := range 2 {
			c := agent.Connection{Service: packet.RC, First: 1, Upper: &agent.Upper{Protocol: "NVMe over RDMA", Queue: "queue 3", Answered: true, Counts: upper.Counts{Open: 1 - n}}}
			for e := range c.Ends {
				c.Ends[e] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(e + 1)}), QPN: uint32(0x20 + n), QPNKnown: true, Packets: 10, Last: 10 * s}
			}
			r.Connections = append(r.Connections, c)
		}
		hung, other := r.Connections[0].Upper, r.Connections[1].Upper
		hung.Targets = []agent.Target{{Name: "namespace 1", Open: 1}}
		hung.Oldest = &agent.Operation{Name: "NVMe Read", Since: s, Frame: 20, Target: 1}
		other.Targets = []agent.Target{{Name: k.on, Answers: 9, Newest: k.newest}}
		other.Recent, other.Slowest = []int64{s, 2 * s, 5 * s, 10 * s}, &agent.Operation{Since: s / 2, Ended: s}
		list := slices.DeleteFunc(Of(&r), func(i Incident) bool { return i.Kind == Untrusted })
		if len(list) != 1 {
			t.Fatalf("%s: %+v", k.name, list)
		}
		i := &list[0]
		if slices.Contains(i.Facts, Fact{"others", "10.0.0.2 answered at least 2 commands of 10.0.0.1 on 1 other connection meanwhile, some of them on namespace 1, too"}) != k.alone ||
			strings.HasPrefix(i.FitsWith[0], "a thread of the program on 10.0.0.2") != k.alone ||
			strings.HasPrefix(i.Next[0], "on 10.0.0.2: the thread that serves queue 3") != k.alone {
			t.Errorf("%s: %q %q %q", k.name, i.Facts, i.FitsWith, i.Next)
		}
	}
}
