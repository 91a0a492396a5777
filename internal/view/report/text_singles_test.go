package report

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	pair "ibwitness/qp"
	"ibwitness/timing"
	"ibwitness/verifier"
	"ibwitness/wqe"
)

// singleScene is a connection whose first end sends n WRITEs of so many packets of 4 KiB, each a time after the ACK of the one before that differs by up to vary; where that is less than 0, several are outstanding.
func singleScene(n, packets int, pause, vary time.Duration) agent.Connection {
	const took, acked = 3 * time.Microsecond, 4 * time.Microsecond
	c := agent.Connection{Service: packet.RC, First: int64(time.Hour), Timing: &timing.Connection{}}
	e, o := &c.Timing.Ends[0], &timing.Operation{}
	gaps, at, bytes := new(verifier.Histogram), c.First, uint32(packets)*4096
	e.Acks.Every = 1
	for i := range n {
		wait := pause + vary*time.Duration(i*7%16)/16
		if i > 0 {
			gaps.Observe(max(wait+acked, 0))
		}
		e.NoteSent(timing.Sent{Begin: at, End: at + int64(took), Bytes: bytes, Packets: uint32(packets)})
		if i < timing.MostAckWaits-1 {
			e.Acks.List = append(e.Acks.List, timing.AckWait{At: at + int64(took), Took: acked, Bytes: bytes})
		}
		o.Observe(took + acked)
		o.Count, o.Bytes = o.Count+1, o.Bytes+uint64(bytes)
		at += int64(took + acked + wait)
	}
	e.Ops[wqe.Write], e.Gaps = o, gaps
	for k := range c.Ends {
		c.Ends[k] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(k + 1)}), QPN: 0x20, QPNKnown: true, Packets: 9, Messages: uint64(n * (1 - k)), Last: at}
	}
	return c
}

// TestOneAtATime: an end is told that sends long messages in one direction, each a while after the ACK of the one before; not one that has several outstanding, whose messages are short or few, as far apart as a
// timer has them, or far apart, that may wait for what comes to its host, or whose connection had trouble or carries a protocol that is known.
func TestOneAtATime(t *testing.T) {
	const us, ms = time.Microsecond, time.Millisecond
	const want = "CLEAN nothing violated, but 10.0.0.1 QP 0x20 sent one RDMA WRITE at a time"
	const told = "One at a time: 10.0.0.1 QP 0x20 sent one RDMA WRITE of 32.0 KiB at a time to 10.0.0.2: all 999 after the first began after the ACK of the one before, " +
		"usually 343.8µs after it (eight of ten: 306.3µs to 387.5µs), and ACKs come 4µs after a message. That makes 741 Mbit/s, though the packets of one come at 76.5 Gbit/s. " +
		"So what 10.0.0.1 does between an ACK and the next WRITE limits it, not the network or 10.0.0.2, or it has no more to send, unless it is far from the tap. " +
		"next whether its program can post several at once (queue depth), and what it does between a completion and the next post (CPU, waiting for interrupts, copies)"
	usual := func() agent.Connection { return singleScene(1000, 8, 300*us, 100*us) }
	changed := func(change func(c *agent.Connection)) agent.Connection {
		c := usual()
		change(&c)
		return c
	}
	back := singleScene(600, 1, 300*us, 100*us)
	back.Ends[0].Addr, back.Ends[1].Addr = back.Ends[1].Addr, back.Ends[0].Addr
	third := back
	third.Ends[0].Addr = packet.IPv4Addr([]byte{10, 0, 0, 3})
	few := back
	few.Ends[0].Messages = 200
	for _, k := range []struct {
		name string
		list []agent.Connection
		want bool
	}{
		{"one at a time", []agent.Connection{usual()}, true},
		{"little comes back", []agent.Connection{usual(), few}, true},
		{"the other host answers on another queue pair", []agent.Connection{usual(), back}, false},
		{"a third host sends as many", []agent.Connection{usual(), third}, false},
		{"several at a time", []agent.Connection{singleScene(1000, 8, -5*us, 600*us)}, false},
		{"short messages", []agent.Connection{singleScene(1000, 3, 300*us, 100*us)}, false},
		{"few messages", []agent.Connection{singleScene(250, 8, 600*us, 100*us)}, false},
		{"by a timer", []agent.Connection{singleScene(1000, 8, 300*us, 10*us)}, false},
		{"far apart", []agent.Connection{singleScene(1000, 8, 11*ms, 3*ms)}, false},
		{"trouble", []agent.Connection{changed(func(c *agent.Connection) { c.Ends[0].Trouble = new(pair.Trouble) })}, false},
		{"a protocol that is known", []agent.Connection{changed(func(c *agent.Connection) { c.Upper = new(agent.Upper) })}, false},
		{"answers of its peer", []agent.Connection{changed(func(c *agent.Connection) { c.Ends[1].Messages = 1000 })}, false},
	} {
		r := &agent.Result{RDMA: 6, Packets: 6, Connections: k.list, First: int64(time.Hour), Last: k.list[0].Ends[0].Last}
		got := reportOf(t, r)
		if strings.Contains(got, told) != k.want || strings.Contains(got, "One at a time") != k.want || strings.HasPrefix(got, want) != k.want || k.want && strings.Contains(got, "Idle: ") {
			t.Errorf("%s: %s", k.name, got)
		}
		if cause, nothing := strings.Index(got, told), strings.Index(got, ofTransport); k.want && (nothing < cause || strings.Count(got, ofTransport) != 1) {
			t.Errorf("%s: %s\nwant what limits it before what does not", k.name, got)
		}
	}
	other := usual()
	other.Ends[1].Addr, other.Ends[0].QPN = packet.IPv4Addr([]byte{10, 0, 0, 4}), 0x21
	if got := reportOf(t, &agent.Result{RDMA: 6, Packets: 6, Connections: []agent.Connection{usual(), other}}); !strings.Contains(got, strings.Replace(told, " So what", " So it does on 1 other queue pair. So what", 1)) {
		t.Error(got)
	}
}
