package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	pair "ibwitness/qp"
	"ibwitness/timing"
	"ibwitness/wqe"
)

// requested is what was measured of a connection whose ends have sent their last request at these times; 0: none.
func requested(at ...int64) *timing.Connection {
	c, p := timing.New(nil), &pair.Pair{Service: packet.RC, Paired: true}
	for from, when := range at {
		if p.Ends[from].Direction = pair.NewDirection(); when != 0 {
			c.Packet(p, from, &packet.Packet{Opcode: packet.Op(packet.RC, packet.SendOnly), PSN: 1, Time: when, Frame: 1})
		}
	}
	return c
}

// TestQuieted: hosts that were busy and went quiet are told in the order in which they sent their last requests on any such connection, where that was measured; not fewer than three, not for a moment, not where one waits, or where they were hardly busy.
func TestQuieted(t *testing.T) {
	const ms = int64(time.Millisecond)
	ring := func(stop ...int64) *agent.Result {
		r := &agent.Result{RDMA: 6, Packets: 6, First: 1, Last: 4000 * ms}
		for k, at := range stop {
			c := agent.Connection{Service: packet.RC, First: 1, FirstFrame: uint64(k + 1)}
			c.Ends[0] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(k + 1)}), QPN: 0x20, QPNKnown: true, Packets: 9, Messages: 100, Last: at * ms}
			c.Ends[1] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte((k+1)%len(stop) + 1)}), QPN: 0x21, QPNKnown: true, Packets: 9, Last: at * ms}
			r.Connections = append(r.Connections, c)
		}
		return r
	}
	measured := ring(500, 480, 520, 510)
	for k, at := range [...][2]int64{{470, 0}, {475, 0}, {460, 505}, {509, 0}} { // 10.0.0.3 was the first by its requests to 10.0.0.4, which sent one to it
		measured.Connections[k].Ends[1].Messages = uint64(min(at[1], 1))
		measured.Connections[k].Timing = requested(at[0]*ms, at[1]*ms)
	}
	step, uneven := ring(500, 500, 500, 500), ring(500, 500, 500, 500)
	for k := range step.Connections {
		step.Connections[k].Timing = requested(470*ms+int64(k), 0)
		uneven.Connections[k].Timing = step.Connections[k].Timing
	}
	uneven.Connections[2].Ends[0].Messages++
	unknown := ring(500, 480, 520, 510)
	for k := range unknown.Connections {
		unknown.Connections[k].Timing = requested(470*ms, 0)
	}
	unknown.Connections[1].Ends[1].Messages = 1
	open := ring(500, 480, 520, 510)
	open.Connections[2].Ends[0].Open = 1
	seldom := ring(500, 480, 520, 510)
	for i := range seldom.Connections {
		seldom.Connections[i].Ends[0].Messages = 60
	}
	part := func(r *agent.Result, of ...int) *agent.Result {
		all := r.Connections
		r.Connections = nil
		for _, k := range of {
			r.Connections = append(r.Connections, all[k])
		}
		return r
	}
	for _, k := range []struct {
		name string
		of   *agent.Result
		want string
	}{
		{"at one host of a ring", part(ring(500, 480, 520, 510), 1, 2), "Quiet: 2 connections that were busy carry nothing in the last 3.48s"},
		{"two that have nothing in common", part(ring(500, 480, 520, 510), 0, 2), ""},
		{"ring", ring(500, 480, 520, 510), "Quiet: 4 connections that were busy carry nothing in the last 3.48s, though no request waits for an answer."},
		{"measured", measured, "no request waits for an answer. Each host sent its last request there in this order: 10.0.0.3 (+0.460000 s), 10.0.0.1 (+0.470000 s), 10.0.0.2 (+0.475000 s) and 10.0.0.4 (+0.509000 s). Where one"},
		{"in step", step, "10.0.0.4 (+0.470000 s). All stopped in step: within 3ns of one another, and each connection carried as many messages as the others. So no host waits for a message of another there: most likely the job ended, or the next round had not begun."},
		{"one has sent more", uneven, "10.0.0.4 (+0.470000 s). Where one"},
		{"one is not known", unknown, "no request waits for an answer."},
		{"two hosts", ring(500, 480), ""},
		{"for a moment", ring(3500, 3480, 3520), ""},
		{"slow", ring(2990, 2990, 2990), ""},
		{"one waits", open, "Quiet: 3 connections "},
		{"hardly busy", seldom, ""},
	} {
		var b bytes.Buffer
		sink, err := New("text", Options{Width: 800})
		if err != nil {
			t.Fatal(err)
		}
		if err := sink.Report(&b, &Run{Result: k.of}); err != nil {
			t.Fatal(err)
		}
		got, _, _ := strings.Cut(b.String(), "\n\nSeen")
		if got = strings.ReplaceAll(got, "\n  ", " "); k.want == "" && strings.Contains(got, "Quiet") || !strings.Contains(got, k.want) || k.of != measured && k.of != step && k.of != uneven && strings.Contains(got, "last request") {
			t.Errorf("%s: %q, want %q", k.name, got, k.want)
		}
	}
}

// TestQuietedIdle: where hosts went quiet, nobody is told to be idle on other connections: they are not what the hosts wait for.
func TestQuietedIdle(t *testing.T) {
	for _, quiet := range []bool{true, false} {
		r := &agent.Result{RDMA: 6, Packets: 6, First: int64(time.Hour), Last: int64(time.Hour + 4*time.Second)}
		for k := range 3 {
			c := agent.Connection{Service: packet.RC, First: r.First}
			c.Ends[0] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 1, byte(k)}), Packets: 900, Messages: 900, Last: r.First + int64(time.Second)}
			c.Ends[1] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 1, byte(k+1) % 3}), Packets: 900, Last: c.Ends[0].Last}
			if !quiet {
				c.Ends[0].Last, c.Ends[1].Last = r.Last, r.Last
			}
			r.Connections = append(r.Connections, c)
		}
		r.Connections = append(r.Connections, busy(wqe.Write, 300, 0))
		if got := reportOf(t, r); strings.Contains(got, "Quiet: ") != quiet || strings.Contains(got, "Idle: ") == quiet {
			t.Errorf("%v: %s", quiet, got)
		}
	}
}

// TestOneWay: where the capture holds one direction only, the verdict does not say that requests were not answered; where another connection has both, or hardly anything was sent, it does.
func TestOneWay(t *testing.T) {
	end := func(messages uint64) agent.End { return agent.End{Packets: messages, Messages: messages} }
	one := agent.Connection{Service: packet.RC, Ends: [2]agent.End{end(100), {}}}
	few := agent.Connection{Service: packet.RC, Ends: [2]agent.End{end(10), {}}}
	both := agent.Connection{Service: packet.RC, Ends: [2]agent.End{end(100), end(1)}}
	for _, k := range []struct {
		name  string
		list  []agent.Connection
		open  uint64
		again bool
		want  string
	}{
		{"one direction", []agent.Connection{one}, 90, false, "the capture holds one direction only, and so no response to 90 requests"},
		{"both of another", []agent.Connection{one, both}, 90, false, "90 requests on 1 connection without a response"},
		{"hardly anything was sent", []agent.Connection{few}, 10, false, "10 requests on 1 connection without a response"},
		{"retransmitted", []agent.Connection{one}, 90, true, "90 requests on 1 connection without a response"},
	} {
		r := &agent.Result{RDMA: 6, Packets: 6, Connections: k.list, Open: agent.Open{Requests: k.open, Connections: 1, Frame: 1, Again: k.again, Waited: time.Second}}
		var b bytes.Buffer
		sink, err := New("text", Options{Width: 800})
		if err != nil {
			t.Fatal(err)
		}
		if err := sink.Report(&b, &Run{Result: r}); err != nil {
			t.Fatal(err)
		}
		if line, _, _ := strings.Cut(b.String(), "\n\n"); !strings.Contains(strings.ReplaceAll(line, "\n      ", " "), k.want) {
			t.Errorf("%s: %q, want %q", k.name, line, k.want)
		}
	}
}

// TestQuietWave: of hosts that send in turn and went quiet it is told that all wait for the first, where each other one has sent one message more
// than a neighbour that stopped before; not where one has not, or two stopped first at once.
func TestQuietWave(t *testing.T) {
	const ms = int64(time.Millisecond)
	const all = " All wait for 10.0.0.4, directly or through one another: it stopped first, after 138 messages on a connection, and each other host has sent one message more than it got from a neighbour that had stopped before " +
		"(10.0.0.4: 138, 10.0.0.3 and 10.0.0.5: 139, 10.0.0.2 and 10.0.0.6: 140 and 10.0.0.1: 141)."
	for _, k := range []struct {
		name   string
		change func(at, n []int64)
		told   bool
	}{
		{"ring", func([]int64, []int64) {}, true},
		{"one stopped as far as its neighbours", func(_, n []int64) { n[0] = 140 }, false},
		{"two first", func(at, _ []int64) { at[2] = at[3] }, false},
		{"one much further", func(_, n []int64) { n[0] = 155 }, false},
	} {
		at, sent := []int64{500, 460, 420, 400, 421, 461}, []int64{141, 140, 139, 138, 139, 140}
		k.change(at, sent)
		r := &agent.Result{RDMA: 6, Packets: 6, First: 1, Last: 4000 * ms}
		for i := range at {
			j := (i + 1) % len(at)
			c := agent.Connection{Service: packet.RC, First: 1, FirstFrame: uint64(i + 1), Timing: requested(at[i]*ms, at[j]*ms)}
			for e, h := range []int{i, j} {
				c.Ends[e] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(h + 1)}), QPN: uint32(0x20 + i), QPNKnown: true, Packets: 9, Messages: uint64(sent[h]), Last: at[h] * ms}
			}
			r.Connections = append(r.Connections, c)
		}
		got, _, _ := strings.Cut(reportOf(t, r), "\n\nSeen")
		got = strings.Join(strings.Fields(got), " ")
		if !strings.Contains(got, "10.0.0.4 (+0.400000 s)") || strings.Contains(got, all) != k.told || strings.Contains(got, "Where one waits") == k.told || strings.Contains(got, " more.") {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}

// TestQuietBeside: a connection that was busy and carries nothing any more, while its host goes on with another, is named; not where that is short
// against its longest pause before, or none goes on.
func TestQuietBeside(t *testing.T) {
	const told = "Quiet: 10.0.0.1 QP 0x20 and 10.0.0.2 QP 0x20, busy until +1.000000 s, carry nothing in the last 23s, though no request waits for an " +
		"answer there, and 10.0.0.2 goes on with 10.0.0.3"
	for name, k := range map[string]struct {
		set func(c, d *agent.Connection)
		is  bool
	}{
		"it went quiet": {func(_, _ *agent.Connection) {}, true},
		"it paused before": {func(c, _ *agent.Connection) {
			c.Timing.Ends[0].Active.Silences = []timing.Silence{{From: c.First, To: c.First + int64(3*time.Second)}}
		}, false},
		"the other is quiet, too":   {func(_, d *agent.Connection) { d.Ends[0].Last, d.Ends[1].Last = d.First, d.First }, false},
		"the other is of others":    {func(_, d *agent.Connection) { d.Ends[1].Addr = packet.IPv4Addr([]byte{10, 0, 0, 9}) }, false},
		"the other is between them": {func(_, d *agent.Connection) { d.Ends[0].Addr = packet.IPv4Addr([]byte{10, 0, 0, 1}) }, false},
		"it was closed":             {func(c, _ *agent.Connection) { c.Closed.At = c.Ends[0].Last }, false},
		"the other began only then": {func(_, d *agent.Connection) { d.First += int64(2 * time.Second) }, false},
	} {
		r := &agent.Result{RDMA: 6, Packets: 6, First: int64(time.Hour), Last: int64(time.Hour + 24*time.Second)}
		c, d := busy(wqe.Write, 300, 0), busy(wqe.Write, 300, 0)
		c.Ends[0].Messages, d.Ends[0].Messages = 300, 300
		d.Ends[0].Addr, d.Ends[0].Last, d.Ends[1].Last = packet.IPv4Addr([]byte{10, 0, 0, 3}), r.Last, r.Last
		k.set(&c, &d)
		r.Connections = []agent.Connection{c, d}
		if got := reportOf(t, r); strings.Contains(got, told) != k.is || !k.is && strings.Contains(got, "Quiet: ") {
			t.Errorf("%s: %s", name, got)
		}
	}
}
