package incident

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/timing"
	"ibwitness/upper"
)

// TestWaitsBeside: of a command without an answer it is told how many wait on the other connections of the hosts at the same time, when the hosts connect again, and whose commands the server answered meanwhile; each only
// where it is so.
func TestWaitsBeside(t *testing.T) {
	second := func(n float64) int64 { return int64(time.Hour) + int64(n*float64(time.Second)) }
	connection := func(host byte, qpn uint32, first, closed, since float64, name string) agent.Connection {
		c := agent.Connection{Service: packet.RC, First: second(first), FirstFrame: uint64(qpn), Timing: &timing.Connection{}, Upper: &agent.Upper{Protocol: "NVMe over RDMA", Answered: true}}
		for k, n := range [2]byte{host, 9} {
			c.Ends[k] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, n}), QPN: qpn, QPNKnown: true, Packets: 10, Messages: 5, Last: second(closed)}
		}
		if closed > 0 {
			c.Closed = agent.Closed{At: second(closed), By: c.Ends[0].Addr, Frame: 500}
		}
		if name != "" {
			c.Upper.Oldest, c.Upper.Open = &agent.Operation{Name: "NVMe " + name, Since: second(since), Frame: uint64(qpn) + 1}, 4
		}
		return c
	}
	const alive, again, alone = ", among them NVMe Keep Alive, command id 3 on QP 0x12 of 10.0.0.1, in frame 19", "the next connection of the hosts began 10s after the disconnect, in frame 19", "22s after this command; they had no other in between"
	const others = "10.0.0.9 answered commands of 10.0.0.2 meanwhile, none of them later than 2ms"
	busy := func(from, until float64) timing.Series {
		s := timing.Series{Start: second(0), Width: int64(time.Second), Slots: make([]timing.Slot, 40)}
		for n := range s.Slots {
			if at := float64(n); at >= from && at < until {
				s.Slots[n] = timing.Slot{Bytes: 64, Messages: 7}
			}
		}
		return s
	}
	hang := func(r *agent.Result, n, target int) { // it, and the first one, on a namespace each
		for k, on := range map[int]int{0: 1, n: target} {
			u := r.Connections[k].Upper
			u.Targets = []agent.Target{{Name: "namespace 2", Open: 4}, {Name: "namespace 1", Open: 4}}
			if u.Oldest == nil {
				u.Open, u.Oldest = 4, &agent.Operation{Name: "NVMe Write", Since: second(29), Frame: 20}
			}
			u.Oldest.Target = on
		}
	}
	for _, tt := range []struct {
		name      string
		set       func(r *agent.Result)
		want, not []string
	}{
		{"all of it", func(*agent.Result) {}, []string{"8 commands on 2 connections between the hosts have no answer" + alive, again, alone, others, "what serves 10.0.0.1 there and not the others"}, []string{"threads are stopped or all busy"}},
		{"the next hangs, too", func(r *agent.Result) { hang(r, 2, 1) }, []string{
			"12 commands on 3 connections between the hosts have no answer" + alive + ", 4 of them on 1 connection that began after the disconnect",
			again + ", 22s after this command; they had no other in between; " +
				"but 4 commands on namespace 2 have no answer there either, on QP 0x13 of 10.0.0.1, since +29.000 s, from frame 20 on",
		}, nil},
		{"the next hangs, too, and no other did", func(r *agent.Result) { hang(r, 2, 1); r.Connections[1].Upper.Oldest = nil }, []string{
			"8 commands on 2 connections between the hosts have no answer, 4 of them on 1 connection that began after the disconnect",
		}, nil},
		{"the next hangs on something else", func(r *agent.Result) { hang(r, 2, 2) }, []string{
			"; but 4 commands have no answer there either, on QP 0x13",
		}, []string{"on namespace"}},
		{"the next waits not for long", func(r *agent.Result) { hang(r, 2, 1); r.Connections[2].Upper.Oldest.Since = second(39.5) }, []string{
			"8 commands on 2 connections", again,
		}, []string{"there either", "that began after"}},
		{"the next of another host hangs", func(r *agent.Result) { hang(r, 3, 1) }, []string{
			"8 commands on 2 connections", again,
		}, []string{"there either", "that began after"}},
		{"the other waits later", func(r *agent.Result) { r.Connections[1].Upper.Oldest.Since = second(18.5) }, []string{"4 commands in all have no answer\n", again, others}, []string{"connections between the hosts have"}},
		{"the other waits not for long", func(r *agent.Result) { r.Connections[1].Upper.Oldest.Since = second(17.8) }, []string{"4 commands in all have no answer; 4 commands on 1 other connection between the hosts, of which the oldest was sent at +17.800 s, have none either\n", again, others}, []string{"connections between the hosts have"}},
		{"the other was sent just now", func(r *agent.Result) { r.Connections[1].Upper.Oldest.Since = second(17.95) }, []string{"4 commands in all have no answer\n", again, others}, []string{"have none either"}},
		{"the other is no Keep Alive", func(r *agent.Result) { r.Connections[1].Upper.Oldest.Name = "NVMe Read" }, []string{"8 commands on 2 connections between the hosts have no answer"}, []string{"among them"}},
		{"the other is of another host", func(r *agent.Result) { r.Connections[1].Ends[0].Addr = packet.IPv4Addr([]byte{10, 0, 0, 7}) }, []string{"4 commands in all have no answer"}, []string{"connections between the hosts have"}},
		{"another connection went on", func(r *agent.Result) { r.Connections[1].Closed = agent.Closed{}; r.Connections[1].Upper.Oldest = nil }, []string{again}, []string{"they had no other", "among them"}},
		{"later ones were answered", func(r *agent.Result) { r.Connections[0].Upper.Oldest.Later = 5 }, []string{again}, []string{"they had no other"}},
		{"they do not connect again", func(r *agent.Result) { r.Connections = append(r.Connections[:2], r.Connections[3]) }, []string{others}, []string{"next connection"}},
		{"others were quiet", func(r *agent.Result) { r.Connections[3].Timing.Ends[0].Series = busy(0, 5) }, []string{again, "threads are stopped or all busy"}, []string{"meanwhile, none", "what serves"}},
		{"others had no answers", func(r *agent.Result) { r.Connections[3].Timing.Ends[1].Series = busy(0, 5) }, []string{again, "threads are stopped or all busy"}, []string{"meanwhile, none", "what serves"}},
		{"others were slow", func(r *agent.Result) { r.Connections[3].Upper.Slow = 1 }, []string{again, "threads are stopped or all busy"}, []string{"meanwhile, none", "what serves"}},
		{"others were slow on another connection", func(r *agent.Result) {
			slow, u := r.Connections[3], *r.Connections[3].Upper
			u.Slow, slow.Upper = 1, &u
			r.Connections = append(r.Connections, slow)
		}, []string{again, "threads are stopped or all busy"}, []string{"meanwhile, none", "what serves"}},
		{"others are of another server", func(r *agent.Result) { r.Connections[3].Ends[1].Addr = packet.IPv4Addr([]byte{10, 0, 0, 8}) }, []string{again, "threads are stopped or all busy"}, []string{"meanwhile, none", "what serves"}},
	} {
		r := &agent.Result{RDMA: 20, First: second(0), Last: second(40), Connections: []agent.Connection{
			connection(1, 0x11, 0, 18, 6, "Read, command id 7"), connection(1, 0x12, 0, 18.5, 8, "Keep Alive, command id 3"), connection(1, 0x13, 28, 0, 0, ""), connection(2, 0x14, 0, 0, 0, ""),
		}}
		x := &r.Connections[3]
		x.Upper.Counts, x.Upper.Slowest = upper.Counts{Begun: 99, Ended: 99}, &agent.Operation{Since: second(3), Ended: second(3) + int64(2*time.Millisecond)}
		x.Timing.Ends[0].Series, x.Timing.Ends[1].Series = busy(0, 40), busy(0, 40)
		tt.set(r)
		var b strings.Builder
		for _, i := range Of(r) {
			if i.Kind != Waiting || i.Begin != second(6) {
				continue
			}
			for _, f := range i.Facts {
				b.WriteString(f.Label + ": " + f.Text + "\n")
			}
			b.WriteString(strings.Join(i.FitsWith, "; or "))
		}
		got := b.String()
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s\nwant %q", tt.name, got, want)
			}
		}
		for _, not := range tt.not {
			if strings.Contains(got, not) {
				t.Errorf("%s: %s\nand not %q", tt.name, got, not)
			}
		}
	}
}
