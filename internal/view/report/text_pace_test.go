package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/timing"
	"ibwitness/verifier"
	"ibwitness/wqe"
)

// TestPaces: an end that waits for the answer to each request is told with what that comes to, where times were measured and the answers take long; not one that has more outstanding, that sends
// most of the time, whose answers come soon, or of which few messages were seen.
func TestPaces(t *testing.T) {
	const n = 300
	times := func(k int, d time.Duration) (h verifier.Histogram) {
		for range k {
			h.Observe(d)
		}
		return h
	}
	connection := func(op wqe.Op, took, gap time.Duration, reads, count int) agent.Connection {
		c := agent.Connection{Service: packet.RC, First: int64(time.Hour), Timing: &timing.Connection{}}
		for k := range c.Ends {
			c.Ends[k] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(k + 1)}), QPN: 0x20, QPNKnown: true, Packets: 9, Messages: 9, Last: c.First + int64(count)*int64(500*time.Microsecond)}
		}
		e, gaps := &c.Timing.Ends[0], times(count-1, gap)
		e.Ops[op] = &timing.Operation{Count: uint64(count), Bytes: uint64(count) * 4096, Latency: times(count, took), Most: took}
		e.Gaps, e.Reads = &gaps, reads
		return c
	}
	between := func(c agent.Connection, a, b byte) agent.Connection {
		c.Ends[0].Addr, c.Ends[1].Addr = packet.IPv4Addr([]byte{10, 0, 0, a}), packet.IPv4Addr([]byte{10, 0, 0, b})
		return c
	}
	smaller := func(c agent.Connection) agent.Connection {
		c.Timing.Ends[0].Ops[wqe.Read].Bytes /= 2
		return c
	}
	beside := func(c agent.Connection, bytes uint64) agent.Connection {
		c.Timing.Ends[0].Ops[wqe.Send] = &timing.Operation{Count: 2, Bytes: bytes, Latency: times(2, time.Microsecond), Most: time.Microsecond}
		return c
	}
	begun := func(c agent.Connection, before time.Duration) agent.Connection {
		c.Timing.Ends[0].Active.First = c.First
		c.First -= int64(before)
		return c
	}
	const us = time.Microsecond
	const one = "65.5 Mbit/s (max_rd_atomic, or a program that waits for each?)."
	for _, k := range []struct {
		name string
		c    agent.Connection
		want string
		with []agent.Connection
	}{
		{name: "READs, one at a time", c: connection(wqe.Read, 500*us, 500*us, 1, n), want: "10.0.0.1 QP 0x20 had one RDMA READ outstanding at a time, 500µs each until its answer: 65.5 Mbit/s (max_rd_atomic, or a program that waits for each?)."},
		{name: "READs, long after CM has begun", c: begun(connection(wqe.Read, 500*us, 500*us, 1, n), 30*time.Millisecond), want: "500µs each until its answer: 65.5 Mbit/s"},
		{name: "READs, several at a time", c: connection(wqe.Read, 500*us, 500*us, 3, n), want: ""},
		{name: "READs, quick", c: connection(wqe.Read, 20*us, 500*us, 1, n), want: ""},
		{name: "few READs", c: connection(wqe.Read, 500*us, 500*us, 1, 10), want: ""},
		{name: "READs at times", c: connection(wqe.Read, 200*us, 500*us, 1, n), want: ""},
		{name: "WRITEs, late ACKs", c: connection(wqe.Write, 500*us, 490*us, 0, n), want: "10.0.0.1 QP 0x20 had about one RDMA WRITE outstanding in the mean, 500µs each until its answer, and sent nothing most of the time: 65.5 Mbit/s (a program that waits for each, or a responder that answers late?)."},
		{name: "WRITEs, late ACKs, beside some larger ones", c: beside(connection(wqe.Write, 500*us, 490*us, 0, n), 4096*n/2), want: "10.0.0.1 QP 0x20 had about one RDMA WRITE outstanding in the mean"},
		{name: "WRITEs, late ACKs, beside larger ones that carry most", c: beside(connection(wqe.Write, 500*us, 490*us, 0, n), 4096*n*2), want: ""},
		{name: "WRITEs, sending", c: connection(wqe.Write, 500*us, 20*us, 0, n), want: ""},
		{name: "atomics, one at a time", c: connection(wqe.FetchAdd, 500*us, 500*us, 1, n), want: "10.0.0.1 QP 0x20 had one FetchAdd outstanding at a time, 500µs each until its answer: 2,000 a second (max_rd_atomic, or a program that waits for each?)."},
		{
			name: "READs, one at a time, and quicker ones on another connection", c: connection(wqe.Read, 500*us, 500*us, 1, n), with: []agent.Connection{connection(wqe.Read, 50*us, 500*us, 1, n)},
			want: "65.5 Mbit/s (10.0.0.2 answers late: to 10.0.0.1 QP 0x20 it takes 50µs for as much; or max_rd_atomic, or a program that waits for each?).",
		},
		{
			name: "READs, one at a time, and quicker ones from another responder", c: connection(wqe.Read, 500*us, 500*us, 1, n), with: []agent.Connection{between(connection(wqe.Read, 50*us, 500*us, 1, n), 1, 3)},
			want: one,
		},
		{
			name: "READs, one at a time, and quicker ones of another host", c: connection(wqe.Read, 500*us, 500*us, 1, n), with: []agent.Connection{between(connection(wqe.Read, 50*us, 500*us, 1, n), 3, 2)},
			want: one,
		},
		{
			name: "READs, one at a time, and quicker ones that are smaller", c: connection(wqe.Read, 500*us, 500*us, 1, n), with: []agent.Connection{smaller(connection(wqe.Read, 50*us, 500*us, 1, n))},
			want: one,
		},
		{
			name: "READs, one at a time, and others that are not much quicker", c: connection(wqe.Read, 500*us, 500*us, 1, n), with: []agent.Connection{connection(wqe.Read, 51*us, 500*us, 1, n)},
			want: one,
		},
		{
			name: "READs, two at a time, and quicker ones on another connection", c: connection(wqe.Read, 1000*us, 500*us, 2, n), with: []agent.Connection{connection(wqe.Read, 50*us, 500*us, 1, n)},
			want: "10.0.0.1 QP 0x20 had up to 2 RDMA READs outstanding at a time, 1ms each until its answer: 65.5 Mbit/s (10.0.0.2 answers late",
		},
		{name: "READs, two at a time", c: connection(wqe.Read, 1000*us, 500*us, 2, n), want: ""},
		{name: "two alike", c: connection(wqe.Read, 500*us, 500*us, 1, n), with: []agent.Connection{connection(wqe.Read, 501*us, 500*us, 1, n)}, want: one + " So had QP 0x20: 500µs each, 65.5 Mbit/s."},
		{name: "of another responder", c: connection(wqe.Read, 500*us, 500*us, 1, n), with: []agent.Connection{between(connection(wqe.Read, 501*us, 500*us, 1, n), 1, 3)}, want: one},
		{
			name: "idle", c: connection(wqe.Write, 20*us, 480*us, 0, n),
			want: "Idle: most of the time the tap saw no request wait for its answer at 10.0.0.1 QP 0x20 (96 %): a program of either end may limit the pace there, or what is between that end and the tap.",
		},
	} {
		var b bytes.Buffer
		sink, err := New("text", Options{Width: 500})
		if err != nil {
			t.Fatal(err)
		}
		if err := sink.Report(&b, &Run{Result: &agent.Result{RDMA: 6, Packets: 6, Connections: append(k.with, k.c)}}); err != nil {
			t.Fatal(err)
		}
		got, _, _ := strings.Cut(b.String(), "\n\nSeen")
		_, got, _ = strings.Cut(strings.ReplaceAll(got, "\n  ", " "), "What happened")
		if strings.Contains(got, "Idle:") != (k.name == "idle" || k.name == "READs, quick") {
			t.Errorf("%s: %q", k.name, got)
		}
		if strings.Contains(got, "So had") != (k.name == "two alike") {
			t.Errorf("%s: %q", k.name, got)
		}
		if k.want == "" && strings.Contains(got, "outstanding") || !strings.Contains(got, k.want) {
			t.Errorf("%s: %q, want %q", k.name, got, k.want)
		}
	}
}

// TestIdleAndQuiet: of a connection that carries nothing any more it is not told what limited its pace.
func TestIdleAndQuiet(t *testing.T) {
	for _, quiet := range []bool{false, true} {
		c := busy(wqe.Write, 300, 0)
		run := &agent.Result{RDMA: 6, Packets: 6, Connections: []agent.Connection{c}, Last: c.Ends[0].Last}
		if run.Connections[0].Ends[0].Messages = 300; quiet {
			run.Last += int64(time.Minute)
		}
		if got := reportOf(t, run); strings.Contains(got, "Idle: ") == quiet {
			t.Errorf("quiet %v: %s", quiet, got)
		}
	}
}

// TestTurns: an end that answers each message of its peer is told where it took long to now and then, or always; not where few messages were seen or where the ends do not take turns.
func TestTurns(t *testing.T) {
	const ms = time.Millisecond
	turns := func(count, long uint64, each time.Duration) timing.Turns {
		return timing.Turns{Count: count, Long: long, Usual: time.Duration(count-long) * 10 * time.Microsecond, Slow: time.Duration(long) * each, Most: max(each, 10*time.Microsecond), Frame: 99}
	}
	part := turns(200, 3, 50*ms)
	part.From, part.To = int64(time.Hour+100*ms), int64(time.Hour+200*ms)
	const answers = "10.0.0.2 QP 0x20 answers each message of 10.0.0.1 QP 0x20 with one of its own: "
	const rare = answers + "usually 10µs later, but 3 times 10ms or more, at most 50ms (frame 99)."
	const always = "10.0.0.2 QP 0x20 and 10.0.0.1 QP 0x20 take turns: the second sends 10µs after a message of the first, and the first 50ms later on average, at most 50ms (frame 99). If the first is the one that answers, its program is slow; if it asks, it had nothing to ask until then."
	for _, k := range []struct {
		name       string
		first, all uint64 // messages of each end
		turns      timing.Turns
		want       string
	}{
		{"now and then", 200, 200, turns(200, 3, 50*ms), rare},
		{"for a part of the time", 200, 200, part, answers + "usually 10µs later, but 3 times 10ms or more, at most 50ms (frame 99), all of them from +0.100000 s to +0.200000 s."},
		{"with data", 200, 400, turns(200, 3, 50*ms), rare},
		{"always", 200, 200, turns(200, 200, 50*ms), always},
		{"often", 200, 200, turns(200, 30, 50*ms), ""},
		{"few messages", 50, 50, turns(50, 1, 50*ms), ""},
		{"no turns", 400, 400, turns(200, 3, 50*ms), ""},
		{"never", 200, 200, turns(200, 0, 5*ms), ""},
	} {
		c := busy(wqe.Send, 0, 0)
		c.Ends[0].Messages, c.Ends[1].Messages = k.first, k.all
		c.Timing.Ends[0].Turns, c.Timing.Ends[1].Turns = turns(200, 0, 0), k.turns
		r := &agent.Result{RDMA: 6, Packets: 6, Connections: []agent.Connection{c}}
		if k.turns.To != 0 {
			r.First, r.Last = c.First, c.Ends[0].Last
			r.Connections[0].Closed.At = r.Last
		}
		if got := reportOf(t, r); !strings.Contains(got, k.want) || k.want == "" && strings.Contains(got, "answers each message") {
			t.Errorf("%s: %s", k.name, got)
		}
	}
	c := busy(wqe.Send, 0, 0)
	c.Ends[0].Messages, c.Ends[1].Messages = 200, 200
	c.Timing.Ends[0].Turns, c.Timing.Ends[1].Turns = turns(200, 0, 0), turns(200, 200, 50*ms)
	for _, explained := range []bool{false, true} { // by a host for which all wait that go in rounds
		x := &text{res: &agent.Result{RDMA: 6, Packets: 6, Connections: []agent.Connection{c}}}
		if explained {
			x.rounded = []packet.Addr{c.Ends[0].Addr, c.Ends[1].Addr}
		}
		if told := len(x.longTurns(0)) > 0; told == explained {
			t.Errorf("explained %v: told %v", explained, told)
		}
	}
	c.Timing, _ = exchange{depth: 40, n: 200, took: stops(160)}.timed()
	c.Timing.Ends[0].Turns, c.Timing.Ends[1].Turns = turns(200, 0, 0), turns(200, 3, 50*ms)
	if got := reported(t, c); strings.Contains(got, "answers each message") || !strings.Contains(got, "so that it is not known which answers which: after one of 10.0.0.1, 10.0.0.2 sends its next usually 10µs later, but 3 times 10ms or more, up to 50ms (frame 99)") {
		t.Error(got)
	}
}

// TestTurnsEnd: the last message of two ends that took turns is told where nothing answers it for long, and not where requests wait or CM has disconnected.
func TestTurnsEnd(t *testing.T) {
	const want = "10.0.0.2 QP 0x20 answers each message of 10.0.0.1 QP 0x20 with one of its own: 10µs later on average, but the last one, in frame 1, has none for 5s, though its adapter acknowledged it."
	for name, change := range map[string]func(c *agent.Connection, r *agent.Result){
		"":             func(*agent.Connection, *agent.Result) {},
		"a moment":     func(c *agent.Connection, r *agent.Result) { r.Last = c.First + int64(time.Millisecond) },
		"one waits":    func(c *agent.Connection, _ *agent.Result) { c.Ends[0].Open = 1 },
		"disconnected": func(c *agent.Connection, _ *agent.Result) { c.Closed.At = c.First + 1 },
	} {
		c := busy(wqe.Send, 0, 0)
		c.Timing = requested(c.First, 0)
		for k := range c.Ends {
			c.Ends[k].Messages = 200
			c.Timing.Ends[k].Turns = timing.Turns{Count: 200, Usual: 2 * time.Millisecond}
		}
		r := &agent.Result{RDMA: 6, Packets: 6, First: c.First, Last: c.First + int64(5*time.Second)}
		change(&c, r)
		r.Connections = []agent.Connection{c}
		var b bytes.Buffer
		sink, err := New("text", Options{Width: 700})
		if err != nil {
			t.Fatal(err)
		}
		if err := sink.Report(&b, &Run{Result: r}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(strings.Fields(b.String()), " "); strings.Contains(got, want) != (name == "") || name != "" && strings.Contains(got, "answers each message") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// reported is the text report of a connection.
func reported(t *testing.T, c agent.Connection) string {
	t.Helper()
	return reportOf(t, &agent.Result{RDMA: 6, Packets: 6, Connections: []agent.Connection{c}})
}

// reportOf is the text report of a result, in one line.
func reportOf(t *testing.T, r *agent.Result) string {
	t.Helper()
	var b bytes.Buffer
	sink, err := New("text", Options{Width: 700})
	if err != nil {
		t.Fatal(err)
	}
	if err := sink.Report(&b, &Run{Result: r}); err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// busy is a connection whose first end sent messages of an operation, of which some were answered late.
func busy(op wqe.Op, n, late int) agent.Connection {
	c := agent.Connection{Service: packet.RC, First: int64(time.Hour), Timing: &timing.Connection{}}
	for k := range c.Ends {
		c.Ends[k] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(k + 1)}), QPN: 0x20, QPNKnown: true, Packets: 9, Messages: 9, Last: c.First + int64(time.Second)}
	}
	o := &timing.Operation{Count: uint64(n)}
	for i := range n {
		took := 10 * time.Microsecond
		if i < late {
			took = 50 * time.Millisecond
		}
		o.Observe(took)
	}
	c.Timing.Ends[0].Ops[op] = o
	return c
}

// TestSlowest: what the slowest message took is what was measured, and not a bound of the histogram.
func TestSlowest(t *testing.T) {
	c := busy(wqe.Read, 300, 0)
	c.Timing.Ends[0].Ops[wqe.Read].Observe(8029 * time.Microsecond)
	if got := reported(t, c); !strings.Contains(got, "; the slowest took 8.029ms.") {
		t.Error(got)
	}
	if k := timingOf(&c, 0).Operations[0].Latency; k.Most != 0.008029 || k.P99 > k.Most {
		t.Errorf("%+v", k)
	}
}

// TestSpikes: an end of which few messages waited long is told; not one of which many did, or of which few messages were seen.
func TestSpikes(t *testing.T) {
	const want = "3 of 300 RDMA READs of 10.0.0.1 QP 0x20 waited longer than 10ms for the answer of 10.0.0.2, 50ms at most, "
	for _, k := range []struct {
		n, late int
		told    bool
	}{{300, 3, true}, {300, 30, false}, {30, 1, false}, {300, 0, false}} {
		if got := reported(t, busy(wqe.Read, k.n, k.late)); strings.Contains(got, want) != k.told || !k.told && strings.Contains(got, "waited longer") {
			t.Errorf("%d of %d: %s", k.late, k.n, got)
		}
	}
}

// TestCommands: how long a peer took to answer commands is told where that is long, and that it is not the network where requests were answered much sooner.
func TestCommands(t *testing.T) {
	const took = "10.0.0.2 took 8ms in the mean to answer 100 commands of 10.0.0.1 QP 0x20 (NVMe over RDMA), at most 12ms (NVMe Read, frames 5 to 9)"
	const program = ", while no request on the connection waited longer than "
	for _, k := range []struct {
		name          string
		answers       uint64
		mean          time.Duration
		longest       time.Duration
		late          int
		told, program bool
	}{
		{"slow", 100, 8 * time.Millisecond, 12 * time.Millisecond, 0, true, true},
		{"slow, as requests are", 100, 8 * time.Millisecond, 12 * time.Millisecond, 3, true, false},
		{"quick", 100, 80 * time.Microsecond, 8 * time.Millisecond, 0, false, false},
		{"few", 5, 8 * time.Millisecond, 12 * time.Millisecond, 0, false, false},
	} {
		c := busy(wqe.Send, 300, k.late)
		c.Upper = &agent.Upper{
			Protocol: "NVMe over RDMA", Answers: k.answers, Took: time.Duration(k.answers) * k.mean,
			Slowest: &agent.Operation{Name: "NVMe Read", Since: 1, Ended: 1 + int64(k.longest), Frame: 5, Answer: 9},
		}
		if got := reported(t, c); strings.Contains(got, took) != k.told || !k.told && strings.Contains(got, "in the mean to answer") || strings.Contains(got, program) != k.program {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}
