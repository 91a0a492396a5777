package incident

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/timing"
	"ibwitness/upper"
	"ibwitness/wqe"
)

// phaseConnection is one on which a server answered half of the commands of 10.0.0.1 late, from second 2 to 5.
func phaseConnection(qpn uint32, server byte, slow time.Duration) agent.Connection {
	const us = time.Microsecond
	c := objectConnection(1, "NVMe over RDMA", []onObject{
		{"NVMe Read", "namespace 1", 20, slow},
		{"NVMe Write", "namespace 1", 20, slow},
		{"NVMe Read", "namespace 1", 20, 100 * us},
		{"NVMe Write", "namespace 1", 20, 100 * us},
	})
	second := func(n int64) int64 { return c.First + n*int64(time.Second) }
	u := c.Upper
	u.Slowest.Since, u.Slowest.Ended = second(3), second(3)+int64(slow)
	u.Recent = []int64{second(1), second(1) + 1, second(1) + 2, second(1) + 3, second(3), second(6), second(6) + 1, second(6) + 2, second(6) + 3}
	if slow > 10*time.Millisecond {
		late := upper.Late{Count: 40, Times: []upper.LateTime{{From: second(2), To: second(4)}, {From: second(4) + int64(slow)/2, To: second(5)}}}
		u.Late, u.Targets[0].Late = late, late
	}
	c.Ends[0].QPN, c.Ends[1].Addr = qpn, packet.IPv4Addr([]byte{10, 0, 0, server})
	return c
}

// slowMeanwhile has commands of two connections take so long from second 2 to 5, of the second one so many seconds later, and has late ones be of more
// times than are kept.
func slowMeanwhile(r *agent.Result, slow time.Duration, later int64) {
	for n := range r.Connections {
		c, w := &r.Connections[n], new(timing.Waits)
		from := 2*int64(time.Second) + int64(n)*later*int64(time.Second)
		for at := int64(0); at < int64(9*time.Second); at += int64(50 * time.Millisecond) {
			took := 100 * time.Microsecond
			if at >= from && at < from+3*int64(time.Second) {
				took = slow
			}
			w.Add(took, c.First+at, 10)
		}
		c.Timing.Commands, c.Upper.Late.More, c.Upper.Late.Count = w, true, 60
		c.Upper.Answers, c.Upper.Ended = 180, 180
	}
}

// TestSlowPhase: a time in which a server answered a good part of the commands late on all connections is told once, with when it began and
// ended, what was usual before and since, and another server beside; also where one took more than a second. Not where few were late, none is known before or since, requests
// waited as long for their own answers, or the capture has lost packets.
func TestSlowPhase(t *testing.T) {
	const (
		ms   = time.Millisecond
		told = "10.0.0.9 was slow from +2.000 s to +5.000 s, for 10.0.0.1: 80 of at most 144 commands in that time, on 2 connections, took 10ms or longer, half of them "
		more = "; before (8 at least) and since (8 at least) none did, and the others usually took "
		look = "next: at 10.0.0.9, from +2.000 s to +5.000 s: its disks: iostat -x"
	)
	for _, k := range []struct {
		name string
		slow time.Duration
		set  func(r *agent.Result)
		want []string // nil: it is not told
	}{
		{"all below a second", 250 * ms, nil, []string{told, more, look, "transport: no request on these 2 connections waited longer than 5µs for its own answer"}},
		{"one above a second", 250 * ms, func(r *agent.Result) {
			u := r.Connections[0].Upper
			u.Slow, u.Slowest.Ended = 1, u.Slowest.Since+int64(1200*ms)
		}, []string{told, ", up to 1.2s", more, look}},
		{"another server", 250 * ms, func(r *agent.Result) {
			r.Connections = append(r.Connections, phaseConnection(0x33, 8, ms))
		}, []string{told, "elsewhere: 10.0.0.8 answered commands in that time, too: of all 80 in the capture, none took longer than 1ms"}},
		{"since the beginning, and to the end", 250 * ms, func(r *agent.Result) {
			for n := range r.Connections {
				r.Connections[n].Upper.Recent = nil
			}
		}, nil},
		{"few", 250 * ms, func(r *agent.Result) {
			for n := range r.Connections {
				r.Connections[n].Upper.Late.Count = 8
			}
		}, nil},
		{"the network, too", 250 * ms, func(r *agent.Result) { r.Connections[1].Timing.Ends[0].Ops[wqe.Send].Observe(100 * ms) }, nil},
		{"a connection without late ones", 250 * ms, func(r *agent.Result) { r.Connections[1] = phaseConnection(0x22, 9, ms) }, nil},
		{"two times", 250 * ms, func(r *agent.Result) {
			for n := range r.Connections {
				x := r.Connections[n].Upper.Late.Times
				x[1].From += int64(500 * ms)
			}
		}, nil},
		{"many times, and slow meanwhile", 250 * ms, func(r *agent.Result) { slowMeanwhile(r, 250*ms, 0) }, []string{
			"10.0.0.9 was slow from about +1.920 s to +4.992 s, for 10.0.0.1: commands on 2 connections took 250ms in the mean in that time, up to 250ms; before and since 100µs in the mean, or less.",
			"next: at 10.0.0.9, from +1.920 s to +4.992 s",
		}},
		{"many times, and a little slower meanwhile", 250 * ms, func(r *agent.Result) { slowMeanwhile(r, ms/2, 0) }, nil},
		{"many times, of each connection its own", 250 * ms, func(r *agent.Result) { slowMeanwhile(r, 250*ms, 3) }, nil},
	} {
		r := &agent.Result{First: int64(time.Hour), Last: int64(time.Hour) + int64(9*time.Second)}
		r.Connections = []agent.Connection{phaseConnection(0x21, 9, k.slow), phaseConnection(0x22, 9, k.slow)}
		if k.set != nil {
			k.set(r)
		}
		got := toldOfObjects(r)
		for _, want := range k.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s\nwant %q", k.name, got, want)
			}
		}
		if n := strings.Count(got, " was slow from "); (n > 0) != (k.want != nil) || n > 1 || n == 1 && strings.Contains(got, " to answer ") {
			t.Errorf("%s: told %d times: %s", k.name, n, got)
		}
	}
}
