package report

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	pair "ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/timing"
	"ibwitness/verifier"
	"ibwitness/wqe"
)

// reader is a connection whose first end, of which the tap is far, has READs of 4 KiB outstanding, a number of them at once, for a second.
func reader(host byte, depth, agreed int, loop time.Duration) agent.Connection {
	n := depth * int(time.Second/loop)
	c := busy(wqe.Read, n, 0)
	e, peer := &c.Ends[0], &c.Ends[1]
	e.Addr, peer.Addr = packet.IPv4Addr([]byte{10, 0, 0, host}), packet.IPv4Addr([]byte{10, 0, 0, 99})
	if e.Messages, peer.Messages = uint64(n), 0; agreed > 0 {
		e.Known, e.InitiatorDepth = pair.KnowsMaxRdAtomic, uint8(agreed)
	}
	o := c.Timing.Ends[0].Ops[wqe.Read]
	o.Bytes, o.Sizes.Least, o.Sizes.Most = uint64(n)*4096, 4096, 4096
	c.Timing.Ends[0].Reads = 2
	for i := range min(n, timing.MostAsks) {
		begin := c.First + int64(i/depth)*int64(loop) + int64(i%depth)*1000
		c.Timing.Ends[0].Asks = append(c.Timing.Ends[0].Asks, timing.Sent{Begin: begin, End: begin + 3000, Bytes: 4096})
	}
	return c
}

// even is such a connection near the tap, whose READs are evenly apart.
func even(host byte, depth int, loop time.Duration) agent.Connection {
	c := reader(host, depth, depth, loop)
	c.Timing.Ends[0].Reads = depth
	for i := range c.Timing.Ends[0].Asks {
		begin := c.First + int64(i)*int64(loop)/int64(depth)
		c.Timing.Ends[0].Asks[i] = timing.Sent{Begin: begin, End: begin + int64(loop) - 1000, Bytes: 4096}
	}
	return c
}

// TestReadDepth: an end is told whose READs are bound by how many it may have outstanding, and who is faster with more; not where CM agreed on
// more, or is not seen, as a program may post so many at once, where the rate is another, or where
// it had trouble.
func TestReadDepth(t *testing.T) {
	const ms = time.Millisecond
	const want = "READ depth: 10.0.0.1 QP 0x20 has no more than 4 RDMA READs outstanding, as many as CM agreed on with 10.0.0.99, and has so many most of the time: each comes 997µs after the answer to the one 4 before it. " +
		"4 of 4.0 KiB in 1ms come to 131 Mbit/s. More of them at once would be faster, or larger READs."
	slower, trouble := reader(1, 4, 4, ms), reader(1, 4, 4, ms)
	slower.Ends[0].Last = slower.First + int64(2*time.Second)
	trouble.Ends[0].Trouble = new(pair.Trouble)
	near := reader(1, 4, 16, ms)
	near.Timing.Ends[0].Reads = 4
	for i := range near.Timing.Ends[0].Asks {
		near.Timing.Ends[0].Asks[i].End += int64(990 * time.Microsecond)
	}
	far, known, queued := even(1, 2, time.Millisecond), even(1, 2, time.Millisecond), even(1, 2, time.Millisecond)
	known.PairedBy, queued.PairedBy = agent.ByCM, agent.ByCM
	queued.Timing.Ends[0].Asks[0].End -= int64(500 * time.Microsecond)
	open := reader(1, 2, 2, ms)
	for k := range 2 {
		open.Timing.Ends[0].Asks[len(open.Timing.Ends[0].Asks)-1-k].End = 0
	}
	for _, k := range []struct {
		name string
		all  []agent.Connection
		want string
		idle bool
	}{
		{"as agreed", []agent.Connection{reader(1, 4, 4, ms)}, want, false},
		{"and one with more", []agent.Connection{reader(2, 8, 8, ms), reader(1, 4, 4, ms)}, want + " 10.0.0.2 QP 0x20, with 8 at once, as CM agreed, in 1ms, is 2.0 times as fast.", false},
		{"and one with more, which is far", []agent.Connection{reader(2, 8, 8, 2*ms), reader(1, 4, 4, ms)}, want, false},
		{"and another", []agent.Connection{reader(2, 4, 4, ms), reader(1, 4, 4, ms)}, "So is it on 1 other queue pair to 10.0.0.99.", false},
		{"near, and more agreed", []agent.Connection{near}, "outstanding, though CM agreed on 16 with 10.0.0.99: its program posts no more, or its max_rd_atomic is lower, and has so many most of the time: each comes 7µs after", false},
		{"the last ones not answered yet", []agent.Connection{reader(2, 4, 16, ms), reader(3, 4, 4, ms), open}, "10.0.0.1 QP 0x20 has no more than 2 RDMA READs outstanding, as many as CM agreed on with 10.0.0.99", false},
		{"evenly apart", []agent.Connection{even(2, 4, ms), far}, "10.0.0.1 QP 0x20 has no more than 2 RDMA READs outstanding, as many as CM agreed on with 10.0.0.99, and has so many most of the time: each comes 1µs after the answer to the one 2 before it. " +
			"2 of 4.0 KiB in 1ms come to 65.5 Mbit/s. More of them at once would be faster, or larger READs. 10.0.0.2 QP 0x20, with 4 at once, as CM agreed, in 1ms, is 2.0 times as fast.", false},
		{"evenly apart, of which the first took as long", []agent.Connection{known}, "10.0.0.1 QP 0x20 has no more than 2 RDMA READs outstanding, as many as CM agreed on", false},
		{"evenly apart, of which the first took half as long", []agent.Connection{queued}, "", true},
		{"evenly apart, and none is faster", []agent.Connection{even(2, 2, ms), even(1, 2, ms)}, "", true},
		{"more agreed", []agent.Connection{reader(1, 4, 16, ms)}, "", true},
		{"not known", []agent.Connection{reader(1, 4, 0, ms)}, "", true},
		{"another rate", []agent.Connection{slower}, "", true},
		{"trouble", []agent.Connection{trouble}, "", false},
	} {
		got := reportOf(t, &agent.Result{RDMA: 6, Packets: 6, Connections: k.all})
		if !strings.Contains(got, k.want) || k.want == "" && strings.Contains(got, "READ depth") {
			t.Errorf("%s: %s", k.name, got)
		}
		if strings.Contains(k.name, "far") && strings.Contains(got, "times as fast") {
			t.Errorf("%s: %s", k.name, got)
		}
		if k.want != "" && strings.Contains(got, "Idle:") || k.idle && !strings.Contains(got, "Idle:") {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}

// offering is a connection for which the REQ of the peer offered to serve so many READs at once.
func offering(c agent.Connection, n uint8) agent.Connection {
	c.Ends[1].AskedDepth, c.Ends[1].ResponderResource = 16, n
	c.Ends[1].Known |= pair.KnowsMaxDestRdAtomic
	return c
}

// TestOneReadAtOnce: an end to which CM granted one READ at a time is told, with one that gets more at about the same round trip with more outstanding; with what CM agreed on, where that is more; not where no other end shows that it is the round trip that
// takes so long, or where its READs are not that far apart. Programs pause between some READs.
func TestOneReadAtOnce(t *testing.T) {
	const loop = 200 * time.Microsecond
	pausing := func(host byte, depth, agreed int, loop time.Duration) agent.Connection {
		c := reader(host, depth, agreed, loop)
		c.Timing.Ends[0].Reads = depth
		for i := range c.Timing.Ends[0].Asks {
			pause := int64(i/32) * int64(50*time.Millisecond)
			c.Timing.Ends[0].Asks[i].Begin += pause
			c.Timing.Ends[0].Asks[i].End += pause
		}
		return c
	}
	const want = "READ depth: 10.0.0.1 QP 0x20 may have no more than one READ outstanding: CM agreed on 1 with 10.0.0.99. Each comes 197µs after the answer to the one before it: " +
		"one of 4.0 KiB in 200µs comes to 164 Mbit/s, while it reads. 10.0.0.2 QP 0x20, for which CM agreed on 16, has up to 8 outstanding at about the same round trip: 1.72 Gbit/s while it reads. " +
		"To have more, raise initiator_depth (max_rd_atomic) on 10.0.0.1, and responder_resources on 10.0.0.99 where that is 1 too."
	for _, k := range []struct {
		name      string
		one, more agent.Connection
		want      string
	}{
		{"one", pausing(1, 1, 1, loop), pausing(2, 8, 16, loop), want},
		{"one of more that were agreed on", pausing(1, 1, 16, loop), pausing(2, 8, 16, loop), "READ depth: 10.0.0.1 QP 0x20 has one RDMA READ outstanding at a time, though CM agreed on 16 with 10.0.0.99: " +
			"its program posts no more, or its max_rd_atomic is lower: each comes 197µs after the answer to the one before it. One of 4.0 KiB in 200µs comes to 164 Mbit/s, while it reads. " +
			"10.0.0.2 QP 0x20 has up to 8 outstanding to 10.0.0.99, at about the same round trip: 1.72 Gbit/s while it reads; so 10.0.0.99 does not limit the first. More of them at once would be faster, or larger READs."},
		{"and in the verdict line", pausing(1, 1, 16, loop), pausing(2, 8, 16, loop), "nothing violated, but see READ depth below;"},
		{"one, as the REQ of its peer offered", offering(pausing(1, 1, 1, loop), 1), pausing(2, 8, 16, loop), "CM agreed on 1 with 10.0.0.99: the REQ of 10.0.0.99 offered no more (responder_resources). Each comes"},
		{"and what to raise", offering(pausing(1, 1, 1, loop), 1), pausing(2, 8, 16, loop), "To have more, raise the responder_resources that the program on 10.0.0.99 connects with (rdma_connect, max_dest_rd_atomic), and initiator_depth on 10.0.0.1."},
		{"one, though the REQ of its peer offered more", offering(pausing(1, 1, 1, loop), 8), pausing(2, 8, 16, loop), want},
		{"not known what was agreed on", pausing(1, 1, 0, loop), pausing(2, 8, 16, loop), "has one RDMA READ outstanding at a time (its max_rd_atomic, or what its program posts): each"},
		{"more agreed, the other is far nearer", pausing(1, 1, 16, loop), pausing(2, 8, 16, loop/2), ""},
		{"more agreed, and the other has one, too", pausing(1, 1, 16, loop), pausing(2, 1, 16, loop), ""},
		{"the other has one, too", pausing(1, 1, 1, loop), pausing(2, 1, 1, loop), ""},
		{"the other is far nearer", pausing(1, 1, 1, loop), pausing(2, 8, 16, loop/2), ""},
		{"READs that are near", pausing(1, 1, 1, loop/4), pausing(2, 8, 16, loop/4), ""},
	} {
		got := reportOf(t, &agent.Result{RDMA: 6, Packets: 6, Connections: []agent.Connection{k.one, k.more}})
		if !strings.Contains(got, k.want) || k.want == "" && strings.Contains(got, "READ depth") {
			t.Errorf("%s: %s", k.name, got)
		}
	}
	none := offering(pausing(1, 1, 1, loop), 1) // whose REQ asked for no READs of its own
	none.Ends[1].AskedDepth = 0
	for _, by := range []int{0, 1} {
		f := rule.Finding{Rule: rule.EvConnect, Accused: rule.Endpoint{Addr: none.Ends[by].Addr, QPN: none.Ends[by].QPN}, Peer: rule.Endpoint{Addr: none.Ends[1-by].Addr, QPN: none.Ends[1-by].QPN}}
		f.Frame = 5
		got := reportOf(t, &agent.Result{RDMA: 6, Packets: 6, Connections: []agent.Connection{none, pausing(2, 8, 16, loop)}, Findings: []rule.Finding{f}})
		if strings.Contains(got, "the REQ of 10.0.0.99 offered no more (responder_resources)") != (by == 1) {
			t.Errorf("the REQ is of end %d: %s", by, got)
		}
	}
}

// TestOneReadInPhases: an end that reads one at a time, as CM agreed, is told also where it does so in phases, and one of the same host that has more
// outstanding to another; not where READs are small, answers come late at its side, it hardly reads, or CM agreed on more.
func TestOneReadInPhases(t *testing.T) {
	const us = time.Microsecond
	phases := func(agreed int, bytes uint32, took, after time.Duration, share float64) agent.Connection {
		c := reader(1, 1, agreed, 1000*us)
		e := &c.Timing.Ends[0]
		o := e.Ops[wqe.Read]
		o.Bytes, o.Sizes.Least, o.Sizes.Most, e.Reads = o.Count*uint64(bytes), bytes, bytes, 1
		for i := range e.Asks {
			begin := c.First + int64(i)*int64(took+after) + int64(i/32)*int64(50*time.Millisecond)
			e.Asks[i] = timing.Sent{Begin: begin, End: begin + int64(took), Bytes: bytes}
		}
		o.Latency = timing.Operation{}.Latency
		for range 64 {
			o.Observe(time.Duration(share / 64 * float64(time.Second)))
		}
		return c
	}
	more := func(took time.Duration) agent.Connection {
		c := phases(0, 128<<10, took, 0, 0.01)
		c.Ends[0].QPN, c.Ends[1].Addr, c.Timing.Ends[0].Reads = 0x3090, packet.IPv4Addr([]byte{10, 0, 0, 98}), 8
		for i := range c.Timing.Ends[0].Asks {
			begin := c.First + int64(i/8)*int64(50*time.Millisecond)
			c.Timing.Ends[0].Asks[i].Begin, c.Timing.Ends[0].Asks[i].End = begin, begin+int64(took)
		}
		return c
	}
	second := func(n int) agent.Connection {
		c := phases(1, 32<<10, 85*us, us, 0.05)
		if c.Ends[0].QPN = 0x31; n > 1 {
			c.Ends[1].Addr = packet.IPv4Addr([]byte{10, 0, 0, 98})
		}
		return c
	}
	varied := func(c agent.Connection) agent.Connection {
		c.Timing.Ends[0].Ops[wqe.Read].Sizes.Least = 512
		return c
	}
	const want = "READ depth: 10.0.0.1 QP 0x20 may have no more than one READ outstanding: CM agreed on 1 with 10.0.0.99. Each comes 1µs after the answer to the one before it: " +
		"one of 32.0 KiB in 86µs comes to 3.05 Gbit/s, while it reads (in phases: one waits for 4 % of the time, for 50ms in all)."
	const beside = want + " The same host has up to 8 outstanding on QP 0x3090 to 10.0.0.98, whose first answers take as long: 95.3 Gbit/s while it reads. To have more, raise"
	for _, k := range []struct {
		name string
		all  []agent.Connection
		want string
	}{
		{"in phases", []agent.Connection{phases(1, 32<<10, 85*us, us, 0.05)}, want + " To have more, raise initiator_depth (max_rd_atomic) on 10.0.0.1"},
		{"and in the verdict line", []agent.Connection{phases(1, 32<<10, 85*us, us, 0.05)}, "nothing violated, but 10.0.0.1 QP 0x20 may have no more than one READ outstanding;"},
		{"and one with more", []agent.Connection{phases(1, 32<<10, 85*us, us, 0.05), more(88 * us)}, beside},
		{"and another one", []agent.Connection{phases(1, 32<<10, 85*us, us, 0.05), second(1)}, "where that is 1 too. The same holds for QP 0x31. Nothing of"},
		{"and another one to another host", []agent.Connection{phases(1, 32<<10, 85*us, us, 0.05), second(2)}, "where that is 1 too. READ depth: 10.0.0.1 QP 0x31 may have"},
		{"and one with more, which is far nearer", []agent.Connection{phases(1, 32<<10, 85*us, us, 0.05), more(20 * us)}, want + " To have more"},
		{"of several sizes", []agent.Connection{varied(phases(1, 32<<10, 85*us, us, 0.05))}, strings.Replace(want, "one of 32.0", "one of up to 32.0", 1) + " To have more, raise"},
		{"of several sizes, and more agreed", []agent.Connection{varied(phases(16, 32<<10, 85*us, us, 0.05))}, ""},
		{"small", []agent.Connection{phases(1, 64, 85*us, us, 0.05)}, ""},
		{"near", []agent.Connection{phases(1, 32<<10, 10*us, us, 0.05)}, ""},
		{"not at once", []agent.Connection{phases(1, 32<<10, 85*us, 40*us, 0.05)}, ""},
		{"hardly ever", []agent.Connection{phases(1, 32<<10, 85*us, us, 0.005)}, ""},
		{"more agreed", []agent.Connection{phases(16, 32<<10, 85*us, us, 0.05)}, ""},
		{"not known what was agreed on", []agent.Connection{phases(0, 32<<10, 85*us, us, 0.05)}, ""},
	} {
		got := reportOf(t, &agent.Result{RDMA: 6, Packets: 6, Connections: k.all})
		if !strings.Contains(got, k.want) || k.want == "" && strings.Contains(got, "READ depth") || strings.Contains(got, "Idle:") != (k.want == "") {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}

// TestSlowerPaceFirst: what so many READs in a round trip come to is their bytes over that time, also where the last answers came later; and an end
// that has one at a time, and is slower, is told before.
func TestSlowerPaceFirst(t *testing.T) {
	const rate = "4 of 4.0 KiB in 1ms come to 131 Mbit/s."
	fast := reader(1, 4, 4, time.Millisecond)
	fast.Ends[0].Last -= int64(fast.Timing.Ends[0].Asks[len(fast.Timing.Ends[0].Asks)-1].Begin-fast.First) / 10
	slow := busy(wqe.Read, 0, 0)
	gaps := new(verifier.Histogram)
	for range 100 {
		slow.Timing.Ends[0].Ops[wqe.Read].Observe(10 * time.Millisecond)
		gaps.Observe(10 * time.Millisecond)
	}
	slow.Timing.Ends[0].Ops[wqe.Read].Bytes, slow.Timing.Ends[0].Gaps, slow.Timing.Ends[0].Reads = 409_600, gaps, 1
	for _, k := range []struct {
		all  []agent.Connection
		slow bool
	}{{[]agent.Connection{fast}, false}, {[]agent.Connection{fast, slow}, true}} {
		got := reportOf(t, &agent.Result{RDMA: 6, Packets: 6, Connections: k.all})
		one, depth := strings.Index(got, "outstanding at a time"), strings.Index(got, "READ depth")
		if !strings.Contains(got, rate) || (one >= 0) != k.slow || one > depth {
			t.Error(got)
		}
	}
}
