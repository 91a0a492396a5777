package report

import (
	"bufio"
	"bytes"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/incident"
	"ibwitness/packet"
	pair "ibwitness/qp"
	"ibwitness/timing"
	"ibwitness/wqe"
)

// TestStandstill: a time without any frame is told where connections were busy until then, with what became of them; not where one was, where frames are seldom that far apart, or where an incident tells of that time.
func TestStandstill(t *testing.T) {
	const ms = int64(time.Millisecond)
	run := func(ends ...int64) *agent.Result {
		r := &agent.Result{RDMA: 4000, Packets: 4000, First: ms, Last: 4000 * ms, Silences: []agent.Silence{{From: 500 * ms, To: 1000 * ms, Frame: 501}}}
		for k, last := range ends {
			c := agent.Connection{Service: packet.RC, First: ms, FirstFrame: uint64(k + 1)}
			if last < 0 {
				c.First, last = 1200*ms, -last
			}
			c.Ends[0] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(k%3 + 1)}), QPN: uint32(k), QPNKnown: true, Packets: 1000, Messages: 1000, Last: last * ms}
			c.Ends[1] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte((k+1)%3 + 1)}), QPN: uint32(k), QPNKnown: true, Packets: 1000, Last: last * ms}
			r.Connections = append(r.Connections, c)
		}
		return r
	}
	seldom, stepped := run(4000, 3990), run(4000, 3990)
	seldom.Packets = 400
	stepped.Clock.Count = 1
	short := run(4000, 3990)
	short.Silences[0].To = 590 * ms
	twice := run(4000, 3990, 3980)
	twice.Silences = append(twice.Silences, agent.Silence{From: 2000 * ms, To: 2200 * ms, Frame: 2000})
	star, lacking := run(4000, 3990, 3980), run(4000, 3990, 3980)
	star.Connections[1].Ends[0].Addr = star.Connections[0].Ends[0].Addr
	lacking.Connections[1].Ends[0].Trouble = &pair.Trouble{}
	closed, waits, again, usual := run(499, 498), run(499, 498), run(499, 498, -4000), run(4000, 3990)
	for _, r := range []*agent.Result{closed, waits, again} {
		for k := range r.Connections {
			r.Connections[k].Closed.At = 1001 * ms
		}
	}
	waits.Connections[1].Ends[0].Open = 1
	usual.Connections[1].Timing = &timing.Connection{}
	usual.Connections[1].Timing.Ends[0].Active = timing.Activity{First: ms, Last: 3990 * ms, Silences: []timing.Silence{{From: 100 * ms, To: 350 * ms}, {From: 500 * ms, To: 1000 * ms}}}
	idle, waiting, three := run(4000, 3990), run(4000, 3990), run(4000, 3990, 3980)
	for _, r := range []*agent.Result{idle, waiting, three} {
		for k := range r.Connections {
			if r != three {
				r.Connections[k].Ends[k%2].Addr, r.Connections[k].Ends[1-k%2].Addr = packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2})
			}
			r.Connections[k].Timing = &timing.Connection{}
		}
	}
	o := &timing.Operation{}
	o.Observe(501 * time.Millisecond)
	waiting.Connections[1].Timing.Ends[0].Ops[wqe.Write] = o
	gap := run(499, 498, 4000)
	gap.Connections[2].Ends[0].Trouble = &pair.Trouble{}
	for _, k := range []struct {
		name string
		of   *agent.Result
		want string
	}{
		{"they go on", run(4000, 3990, 3980), "No frame: the capture holds none of any host for 500ms from +0.499000 s on, though 3 connections between 3 hosts had carried frames all the time; then all went on."},
		{"they end", run(499, 498, 497, -4000, -3990), "though 3 connections between 3 hosts had carried frames all the time; none of them carries anything after it, and 2 between these hosts began. A link at the tap that was down for longer"},
		{"some end", run(499, 498, 4000), "; 1 of them went on, and 2 carry nothing after it. A link at the tap that was down for longer than retries last looks like that: what went on did with the next PSN. Look at"},
		{"some end, and PSNs are missing", gap, "that was down for longer than retries last looks like that; so do programs that ended together. Look at"},
		{"at one host", star, "then all went on. All of them are of 10.0.0.1. Programs that pause together look like that, and so does the link of 10.0.0.1, or the host itself, that was down; no PSN is missing after it"},
		{"PSNs are missing", lacking, "Programs that pause together look like that, and so does a link at the tap that was down, or a capturing host that stopped."},
		{"again and again", twice, ""},
		{"two hosts, and nothing was waited for", idle, ""},
		{"two hosts, and a request was waited for", waiting, "though 2 connections between 2 hosts had carried frames all the time; then all went on."},
		{"three hosts, and nothing was waited for", three, "though 3 connections between 3 hosts had carried"},
		{"programs ended together", closed, ""},
		{"one had not been answered", waits, "none of them carries anything after it."},
		{"they connected again", again, "none of them carries anything after it, and 1 between these hosts began."},
		{"one of them had been silent as long", usual, ""},
		{"one connection", run(4000), ""},
		{"one that was over before", run(4000, 300), ""},
		{"frames are seldom", seldom, ""},
		{"short", short, ""},
		{"a clock was set", stepped, ""},
	} {
		if got := standstillOf(t, k.of, nil); k.want == "" && got != "" || !strings.Contains(got, k.want) {
			t.Errorf("%s: %q\nwant %q", k.name, got, k.want)
		}
	}
	told := []incident.Incident{{Kind: incident.Untrusted, Begin: 500 * ms, End: 1000 * ms}}
	if got := standstillOf(t, run(4000, 3990), told); got != "" {
		t.Errorf("an incident tells of it: %q", got)
	}
}

// TestStandstillEnds: where connections end with a time without any frame, that is said first, and nobody is told to post late; not where all go on.
func TestStandstillEnds(t *testing.T) {
	const ms = int64(time.Millisecond)
	for last, want := range map[int64]bool{499 * ms: true, 4000 * ms: false} {
		r := &agent.Result{RDMA: 4000, Packets: 4000, First: ms, Last: 4001 * ms, Silences: []agent.Silence{{From: 500 * ms, To: 1000 * ms, Frame: 501}}}
		for k := range 3 {
			c := busy(wqe.Write, 300, 0)
			c.First = ms
			for e := range c.Ends {
				c.Ends[e].Addr, c.Ends[e].Packets, c.Ends[e].Messages, c.Ends[e].Last = packet.IPv4Addr([]byte{10, 0, 0, byte(k*e + 1)}), 1000, 1000, 3990*ms
			}
			if k > 0 {
				c.Ends[0].Last, c.Ends[1].Last = last, last
			}
			r.Connections = append(r.Connections, c)
		}
		got := reportOf(t, r)
		if strings.Contains(got, "Nothing but a time without any frame: every request that the capture shows was answered") != want || strings.Contains(got, "Idle: ") == want || !strings.Contains(got, "No frame: ") {
			t.Errorf("until %d: %s", last, got)
		}
	}
}

func standstillOf(t *testing.T, r *agent.Result, list []incident.Incident) string {
	t.Helper()
	var b bytes.Buffer
	x := &text{Options: Options{Width: 800}, out: bufio.NewWriter(&b), res: r}
	x.standstills(list)
	if err := x.out.Flush(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
