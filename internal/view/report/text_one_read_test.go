package report

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/timing"
	"ibwitness/wqe"
)

// TestMoreBesides: of an end with one READ outstanding at a time it is told which other queue pair of the same two hosts has more at about the same round trip, and is
// faster; not a queue pair of another host, one that is answered sooner or later, or one that is no faster.
func TestMoreBesides(t *testing.T) {
	const us = time.Microsecond
	deep := func(host byte, loop time.Duration) agent.Connection {
		c := even(host, 8, loop)
		o := &timing.Operation{Count: 300, Bytes: 300 * 4096}
		for range 300 {
			o.Observe(loop)
		}
		c.Ends[0].QPN, c.Timing.Ends[0].Ops[wqe.Read] = 0xb7, o
		return c
	}
	slow := deep(1, 500*us)
	for i := range slow.Timing.Ends[0].Asks {
		slow.Timing.Ends[0].Asks[i].Bytes = 256
	}
	for _, k := range []struct {
		name  string
		other agent.Connection
		told  bool
	}{
		{"more at a time", deep(1, 500*us), true},
		{"of another host", deep(3, 500*us), false},
		{"far away", deep(1, 2000*us), false},
		{"near", deep(1, 200*us), false},
		{"no faster", slow, false},
	} {
		c, other := oneAtATime(500*us, 300), k.other
		c.Ends[1].Addr = other.Ends[1].Addr
		got := reportOf(t, &agent.Result{RDMA: 6, Packets: 6, Connections: []agent.Connection{c, other}})
		const want = "10.0.0.1 QP 0x20 had one RDMA READ outstanding at a time, 500µs each until its answer: 65.5 Mbit/s (max_rd_atomic, or a program that waits for each?)."
		const more = want + " 10.0.0.1 QP 0xb7, with up to 8 outstanding to 10.0.0.99 at about the same round trip, gets 5"
		if !strings.Contains(got, want) || strings.Contains(got, more) != k.told || strings.Contains(got, "gets") != k.told {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}

// TestSingleRead: of an end with one READ outstanding at a time it is told how large each is and how soon it follows the answer before it, what would be faster, and who has more to another host as far away; not how
// soon where the program takes its time, and not who has more where that is nearer.
func TestSingleRead(t *testing.T) {
	const us = time.Microsecond
	const want = " Each of 4.0 KiB on QP 0x20 follows 1µs (median) after the answer to the one before it: the way to 10.0.0.99 and back, and its answer, take the rest. " +
		"next more READs outstanding (the queue depth of the program, max_rd_atomic or initiator_depth), or larger ones"
	const more = "(max_rd_atomic, or a program that waits for each?). The same host has up to 8 outstanding on QP 0x20 to 10.0.0.98, whose first answers take as long: 5"
	for _, k := range []struct {
		name          string
		took, others  time.Duration
		follows, told bool
	}{
		{"soon", 499 * us, 500 * us, true, true},
		{"late", 300 * us, 500 * us, false, true},
		{"nearer", 499 * us, 100 * us, true, false},
	} {
		c, other := oneAtATime(500*us, 300), even(1, 8, k.others)
		other.Ends[1].Addr = packet.IPv4Addr([]byte{10, 0, 0, 98})
		c.Ends[1].Addr = packet.IPv4Addr([]byte{10, 0, 0, 99})
		e := &c.Timing.Ends[0]
		e.Ops[wqe.Read].Sizes = timing.Sizes{Least: 4096, Most: 4096}
		for i := range int64(128) {
			begin := c.First + i*int64(500*us)
			e.Asks = append(e.Asks, timing.Sent{Begin: begin, End: begin + int64(k.took), Bytes: 4096})
		}
		got := reportOf(t, &agent.Result{RDMA: 6, Packets: 6, Connections: []agent.Connection{c, other}})
		if !strings.Contains(got, "had one RDMA READ outstanding at a time") || strings.Contains(got, want) != k.follows || strings.Contains(got, more) != k.told {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}

// TestSoon: what comes within the resolution of usual captures comes right after.
func TestSoon(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "right ", 900: "right ", time.Microsecond: "1µs ", 190 * time.Microsecond: "190µs "} {
		if got := soon(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}
