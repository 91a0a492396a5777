package report

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/link"
	"ibwitness/packet"
	"ibwitness/timing"
	"ibwitness/wqe"
)

const sharedSlot, sharedSlots, sharedFrom = int64(32 * time.Millisecond), 40, 20

// customer is a connection of a client with the server 10.0.0.99, on which it gets so many answers in a slot before and after a time, each after
// so many ms; or so many MiB.
func customer(host byte, bytes bool, before, after int, took, then time.Duration) agent.Connection {
	c := busy(wqe.Send, 0, 0)
	c.Ends[0].Addr, c.Ends[1].Addr = packet.IPv4Addr([]byte{10, 0, 0, host}), packet.IPv4Addr([]byte{10, 0, 0, 99})
	e := &c.Timing.Ends[0]
	if !bytes {
		c.Upper = &agent.Upper{Answered: true, Answers: 1}
	}
	c.First -= c.First % sharedSlot
	for k := range sharedSlots {
		n, d, at := before, took, c.First+int64(k)*sharedSlot
		if k >= sharedFrom {
			n, d = after, then
		}
		if n > 0 {
			if e.Active.First == 0 {
				e.Active.First, e.Active.Frames[0] = at+1000, 77
			}
			e.Active.Last, e.Active.Frames[1] = at+2000, 99
		}
		switch {
		case bytes:
			s := &c.Timing.Ends[1].Series
			s.Start, s.Width = c.First, sharedSlot
			s.Slots = append(s.Slots, timing.Slot{Bytes: uint64(n) << 20})
		default:
			for i := range n {
				c.Timing.Command(d, at+int64(i)*sharedSlot/int64(n), 1)
			}
		}
	}
	c.Ends[0].Last = c.First + sharedSlot*sharedSlots
	return c
}

// TestShared: clients are told that get less of a server once another begins, or more once it has ended, where that gives as much in all; not
// where packets were lost, marked or paused, where it gives more, or where commands take no longer.
func TestShared(t *testing.T) {
	const ms = time.Millisecond
	began := func(bytes bool) []agent.Connection {
		return []agent.Connection{customer(1, bytes, 32, 16, 2*ms, 4*ms), customer(2, bytes, 32, 16, 2*ms, 4*ms), customer(3, bytes, 0, 32, 4*ms, 4*ms)}
	}
	lost, marked := began(false), began(false)
	lost[0].Ends[0].Retransmissions, marked[2].Timing.Ends[1].Marked = 1, 1
	more, less := began(false), began(false)
	more[2] = customer(3, false, 0, 64, 4*ms, 4*ms)
	less[0], less[1] = customer(1, false, 32, 16, 2*ms, 2*ms), customer(2, false, 32, 16, 2*ms, 2*ms)
	const all = " No packet was lost or marked there, and no pause was seen: likely they share what 10.0.0.99 can do, or a link to it."
	for _, k := range []struct {
		name   string
		all    []agent.Connection
		paused bool
		want   string
	}{
		{name: "commands", all: began(false), want: "Shared: when 10.0.0.3 began, at +0.640001 s (frame 77), 10.0.0.1 and 10.0.0.2 fell to 50 % of the answers to commands that 10.0.0.99 gave them before (2,000 a second, then 1,000 a second), " +
			"though it gives as much in all (2,000 a second, then 2,000 a second): 10.0.0.3 gets 50 % of that. " +
			"A command of 10.0.0.1 and 10.0.0.2 took 2ms in the mean, then 4ms, with about 4 outstanding in all, and one of 10.0.0.3 4ms, with about 4." + all},
		{name: "payload", all: began(true), want: "Shared: when 10.0.0.3 began, at +0.640001 s (frame 77), 10.0.0.1 and 10.0.0.2 fell to 50 % of the payload that 10.0.0.99 gave them before (16.8 Gbit/s, then 8.39 Gbit/s), " +
			"though it gives as much in all (16.8 Gbit/s, then 16.8 Gbit/s): 10.0.0.3 gets 50 % of that." + all},
		{name: "ended", all: []agent.Connection{customer(1, true, 16, 32, 0, 0), customer(3, true, 16, 0, 0, 0)}, want: "Shared: when 10.0.0.3 ended, at +0.608002 s (frame 99), 10.0.0.1 rose to 200 % of the payload that 10.0.0.99 gave it before (4.19 Gbit/s, then 8.39 Gbit/s), " +
			"though it gives as much in all (8.39 Gbit/s, then 8.39 Gbit/s): 10.0.0.3 had 50 % of that." + all},
		{name: "lost", all: lost},
		{name: "marked", all: marked},
		{name: "paused", all: began(false), paused: true},
		{name: "more in all", all: more},
		{name: "as soon", all: less},
	} {
		r := &agent.Result{RDMA: 6, Packets: 6, First: k.all[0].First, Last: k.all[0].Ends[0].Last, Connections: k.all}
		if k.paused {
			r.Paused = []link.Paused{{}}
		}
		if got := reportOf(t, r); !strings.Contains(got, k.want) || k.want == "" && strings.Contains(got, "Shared:") {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}
