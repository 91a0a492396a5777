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

// turned is a connection of two hosts that take turns, the second of which took as long once, up to some time after the beginning.
func turned(asks, answers byte, most, until time.Duration) agent.Connection {
	c := busy(wqe.Send, 0, 0)
	for k, host := range []byte{asks, answers} {
		c.Ends[k].Addr, c.Ends[k].Messages = packet.IPv4Addr([]byte{10, 0, 0, host}), 200
		c.Timing.Ends[k].Turns = timing.Turns{Count: 200, Usual: 2 * time.Millisecond}
	}
	x := &c.Timing.Ends[1].Turns
	x.Long, x.Slow, x.Most, x.Frame, x.At = 1, most, most, 99, c.First+int64(until)
	return c
}

// TestChain: where several waited long for an answer, it is told who did not answer, and who only waited for that; not where the times are others, or the host another.
func TestChain(t *testing.T) {
	const s, us = time.Second, time.Microsecond
	const root = "10.0.0.3 QP 0x20 answers each message of 10.0.0.2 QP 0x20 with one of its own: usually 10.05µs later, but once 2s (frame 99)."
	const waited = " Meanwhile 10.0.0.1 and 10.0.0.4 waited for 10.0.0.2, for up to 2.001s, and had the answer right after: all waited for 10.0.0.3."
	last := turned(2, 3, 2*s, 5*s)
	for _, k := range []struct {
		name  string
		first agent.Connection
		joins bool
	}{
		{"the same time", turned(1, 2, 2*s+600*us, 5*s+300*us), true},
		{"before", turned(1, 2, 2*s, 3*s), false},
		{"another host", turned(1, 5, 2*s+600*us, 5*s+300*us), false},
		{"it was answered first", turned(1, 2, 2*s, 5*s-us), false},
	} {
		r := &agent.Result{RDMA: 6, Packets: 6, First: last.First, Last: last.First + int64(9*s), Connections: []agent.Connection{k.first, turned(4, 2, 2*s+600*us, 5*s+400*us), last}}
		for n := range r.Connections {
			r.Connections[n].Closed.At = r.Last
		}
		got := reportOf(t, r)
		if !strings.Contains(got, root) || strings.Contains(got, waited) != k.joins || strings.Count(got, "answers each message") != map[bool]int{true: 1, false: 2}[k.joins] {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}

// TestThinks: an end that takes long each time is slow where CM has told that it was asked, has nothing to ask where it asked itself, and one or the other where that is not known.
func TestThinks(t *testing.T) {
	for _, k := range []struct {
		by   agent.PairedBy
		slow int
		want string
	}{
		{agent.ByPSN, 0, "10.0.0.1 QP 0x20 and 10.0.0.2 QP 0x20 take turns: "},
		{agent.ByPSN, 1, "10.0.0.2 QP 0x20 and 10.0.0.1 QP 0x20 take turns: "},
		{agent.ByCM, 0, ""},
		{agent.ByCM, 1, "10.0.0.2 QP 0x20 answers each message of 10.0.0.1 QP 0x20 with one of its own: 50ms later on average"},
	} {
		c := turned(1, 2, 10*time.Microsecond, 0)
		c.PairedBy = k.by
		c.Timing.Ends[1].Turns = timing.Turns{Count: 200, Usual: 2 * time.Millisecond}
		c.Timing.Ends[k.slow].Turns = timing.Turns{Count: 200, Long: 200, Slow: 10 * time.Second, Most: 60 * time.Millisecond}
		r := &agent.Result{RDMA: 6, Packets: 6, First: c.First, Last: c.First + int64(time.Second), Connections: []agent.Connection{c}}
		r.Connections[0].Closed.At = r.Last
		got := reportOf(t, r)
		if !strings.Contains(got, k.want) || k.want == "" && (strings.Contains(got, "take turns") || strings.Contains(got, "answers each")) {
			t.Errorf("%v, end %d: %s", k.by, k.slow, got)
		}
	}
}

// TestLeft: a server that disconnects before it has answered the last message is told; not where its client disconnects, where it had answered, or where it is not known who asked for the connection.
func TestLeft(t *testing.T) {
	const said = "10.0.0.2 QP 0x20, which answered each message of 10.0.0.1 QP 0x20 with one of its own, disconnected in frame 50, "
	for _, k := range []struct {
		name   string
		by     agent.PairedBy
		closes byte
		newest int // the end that sent the newest message
		want   bool
	}{
		{"it owes an answer", agent.ByCM, 2, 0, true},
		{"its client disconnects", agent.ByCM, 1, 0, false},
		{"it had answered", agent.ByCM, 2, 1, false},
		{"not known who asked", agent.ByPSN, 2, 0, false},
	} {
		c := turned(1, 2, 10*time.Microsecond, 0)
		m, last := exchange{depth: 1, n: 200, took: func(i int) time.Duration {
			if k.newest == 0 && i == 199 {
				return 0 // no answer
			}
			return answered
		}}.timed()
		m.Ends[0].Turns, m.Ends[1].Turns = c.Timing.Ends[0].Turns, c.Timing.Ends[1].Turns
		c.Timing, c.PairedBy = m, k.by
		c.Closed = agent.Closed{By: packet.IPv4Addr([]byte{10, 0, 0, k.closes}), At: last + int64(time.Millisecond), Frame: 50}
		r := &agent.Result{RDMA: 6, Packets: 6, First: c.First, Last: c.Closed.At, Connections: []agent.Connection{c}}
		if got := reportOf(t, r); strings.Contains(got, said) != k.want {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}
