package report

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/link"
	"ibwitness/timing"
	"ibwitness/wqe"
)

// sized is such a connection on which commands are about so large before and after a time, and whose requests are answered soon.
func sized(c agent.Connection, before, after uint64) agent.Connection {
	c.Timing.Ends[0].Ops[wqe.Send] = &timing.Operation{Count: 1, Most: 5 * time.Microsecond}
	c.Upper.Protocol, c.Upper.Answers, c.Upper.Took = "NVMe over RDMA", 800, 3200*time.Millisecond
	c.Upper.Slowest = &agent.Operation{Since: 1, Ended: 1 + int64(6*time.Millisecond), Name: "NVMe Read", Frame: 5, Answer: 9}
	s := &c.Timing.Ends[1].Series
	s.Start, s.Width = c.First, sharedSlot
	for k, x := range c.Timing.Commands.Series.Slots {
		each := before
		if k >= sharedFrom {
			each = after
		}
		s.Slots = append(s.Slots, timing.Slot{Bytes: uint64(x.Messages) * each})
	}
	return c
}

// TestSlowed: a server is told that answers the commands of all its clients later from a time on, once for all of them; not where these ask for
// more, where one begins, where requests wait as long, where it was a client of another itself, or where packets were lost or paused.
func TestSlowed(t *testing.T) {
	const ms = time.Millisecond
	slow := func(host byte) agent.Connection { return sized(customer(host, false, 32, 16, 3*ms, 6*ms), 4096, 4096) }
	both := func(change func(c *agent.Connection)) []agent.Connection {
		list := []agent.Connection{slow(1), slow(2)}
		change(&list[1])
		return list
	}
	const mean = "10.0.0.99 took 4ms in the mean"
	for _, k := range []struct {
		name   string
		all    []agent.Connection
		paused bool
		want   string
	}{
		{name: "all", all: []agent.Connection{slow(1), slow(2)}, want: "Slowed: from about +0.64 s on 10.0.0.99 takes 6ms instead of 3ms in the mean for commands of 10.0.0.1 and 10.0.0.2 alike (2,000 a second, then 1,000 a second), " +
			"with about 6 outstanding in all before and 6 after. No client began or ended then, commands are as large, nothing was lost or marked, no pause was seen, and no request waited longer than 5µs for its own answer: " +
			"it became slower itself. next on 10.0.0.99: disks, load and CPU"},
		{name: "larger commands", all: both(func(c *agent.Connection) { *c = sized(customer(2, false, 32, 16, 3*ms, 6*ms), 4096, 8192) })},
		{name: "more outstanding", all: both(func(c *agent.Connection) { *c = sized(customer(2, false, 32, 32, 3*ms, 6*ms), 4096, 4096) })},
		{name: "one is as fast", all: both(func(c *agent.Connection) { *c = sized(customer(2, false, 32, 32, 3*ms, 3*ms), 4096, 4096) })},
		{name: "one begins", all: append(both(func(*agent.Connection) {}), sized(customer(3, false, 0, 8, 6*ms, 6*ms), 4096, 4096))},
		{name: "requests wait as long", all: both(func(c *agent.Connection) { c.Timing.Ends[0].Ops[wqe.Send].Most = 2 * ms })},
		{name: "a client itself", all: both(func(c *agent.Connection) { c.Upper.Slowest.From = 1 })},
		{name: "lost", all: both(func(c *agent.Connection) { c.Ends[0].Retransmissions = 1 })},
		{name: "paused", all: both(func(*agent.Connection) {}), paused: true},
	} {
		r := &agent.Result{RDMA: 6, Packets: 6, First: k.all[0].First, Last: k.all[0].Ends[0].Last, Connections: k.all}
		if k.paused {
			r.Paused = []link.Paused{{}}
		}
		got := reportOf(t, r)
		if !strings.Contains(got, k.want) || (k.want == "") == strings.Contains(got, "Slowed:") || (k.want == "") != strings.Contains(got, mean) {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}

// TestSharedOnce: where it is told how long commands take before and after another client began, it is not told how long they took in the mean of
// all; but of one that took much longer, and of clients that nothing is told of.
func TestSharedOnce(t *testing.T) {
	const ms = time.Millisecond
	const mean = "10.0.0.99 took 4ms in the mean to answer 800 commands of 10.0.0.1 "
	one := func(host byte, before, after int) agent.Connection {
		return sized(customer(host, false, before, after, 2*ms, 4*ms), 4096, 4096)
	}
	list := func(change func(c *agent.Connection)) []agent.Connection {
		all := []agent.Connection{one(1, 32, 16), one(2, 32, 16), one(3, 0, 32)}
		change(&all[0])
		return all
	}
	for name, k := range map[string]struct {
		all  []agent.Connection
		told bool
	}{
		"alike":                 {list(func(*agent.Connection) {}), false},
		"one takes much longer": {list(func(c *agent.Connection) { c.Upper.Slowest.Ended = int64(90 * ms) }), true},
		"not shared":            {list(func(c *agent.Connection) { c.Ends[0].Retransmissions = 1 }), true},
	} {
		got := reportOf(t, &agent.Result{RDMA: 6, Packets: 6, First: k.all[0].First, Last: k.all[0].Ends[0].Last, Connections: k.all})
		if strings.Contains(got, mean) != k.told || strings.Contains(got, "Shared:") != (name != "not shared") {
			t.Errorf("%s: %s", name, got)
		}
	}
}
