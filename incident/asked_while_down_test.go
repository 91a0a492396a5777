package incident

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/timing"
	"ibwitness/verifier/cm"
)

// TestAskedWhileDown: of a host that was down it is told who asked it for connections meanwhile, which connections did not outlast that, or carry nothing
// since, and which other host disconnected and accepted again at that time. That others went on may show on several connections together.
func TestAskedWhileDown(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	connection := func(server, client byte, qpn uint32, first, last int64) agent.Connection {
		c := agent.Connection{Service: packet.RC, PairedBy: agent.ByCM, First: at(first), FirstFrame: uint64(first), Timing: &timing.Connection{}}
		for k := range c.Ends {
			c.Ends[k] = agent.End{Addr: host([2]byte{client, server}[k]), QPN: qpn, QPNKnown: true, Packets: 1000, Messages: 500, Last: at(last)}
			c.Timing.Ends[k].Active = timing.Activity{First: at(first), Last: at(last)}
		}
		return c
	}
	lost := func(client byte, qpn uint32, since int64) agent.Connection {
		c := connection(1, client, qpn, 1, 3000)
		stall := qp.Stall{Request: qp.StalledRequest{Frame: uint64(since)}, Since: at(since), Begun: at(since + 100), Last: at(since + 900), Packets: 7}
		stall.Rounds[qp.TimerExpired] = 7
		c.Ends[0].Trouble, c.Ends[0].Stalled, c.Ends[0].Last = &qp.Trouble{Now: stall}, true, at(since+900)
		return c
	}
	req := func(r *agent.Result, w cm.Waits, from byte, first, last, end int64) {
		q := cm.Unanswered{Waits: w, From: host(from), To: host(1), Times: 3, First: at(first), Last: at(last), Frame: uint64(last), Wait: int64(time.Second)}
		if end > 0 {
			q.End, q.EndFrame = at(end), uint64(end)
		}
		r.REQs = append(r.REQs, q)
	}
	restarts := func(r *agent.Result, last int64) {
		c := connection(8, 6, 0x401, 1, 5000)
		c.Closed = agent.Closed{By: host(8), At: at(5000), Frame: 5000}
		f := rule.Finding{Rule: rule.EvReject, Class: rule.Event, Time: at(6000), Frame: 6000, Detail: cm.Refusal{Reason: mad.RejInvalidService, Service: "TCP port 987"}.String()}
		f.Accused.Addr, f.Peer.Addr = host(8), host(6)
		r.Findings = append(r.Findings, f)
		r.Connections = append(r.Connections, c, connection(8, 6, 0x402, last, 29000))
	}
	arps := func(r *agent.Result, from byte, times ...int64) {
		for _, ms := range times {
			r.Signs = append(r.Signs, agent.Sign{Presence: fabricagent.Presence{Host: host(from), To: host(1), By: fabricagent.ByARP}, At: at(ms), Frame: uint64(ms)})
		}
		slices.SortFunc(r.Signs, func(a, b agent.Sign) int { return cmp.Compare(a.At, b.At) })
	}
	survives := func(r *agent.Result) {
		r.Connections[1] = connection(1, 4, 0x102, 1, 29000)
		r.Connections[1].Timing.Ends[1].Active.Silences = []timing.Silence{{From: at(3000), To: at(9000), Frames: [2]uint64{3000, 9000}}}
	}
	const (
		down   = "10.0.0.1 was down or cut off for "
		low    = uint32(0x12)
		beside = "apart: 10.0.0.8 sent DREQs at +5.000 s, and accepted connections again at +8.000 s\n"
		silent = "silent: 1 more connection of 10.0.0.1, busy before, not seen after that until the end of the capture: with 10.0.0.5 QP 0x105 since +2.990 s; "
	)
	for _, k := range []struct {
		name      string
		set       func(r *agent.Result)
		want, not []string
	}{
		{"asked", func(r *agent.Result) {
			req(r, cm.ForREP, 2, 5000, 8000, 0)
			req(r, cm.ForRefusal, 4, 4000, 8000, 9500)
		}, []string{down, "REQs: in vain meanwhile: 10.0.0.4 3 times from +4.000 s on, every 2s; and 10.0.0.2 3 times from +5.000 s on, every 1.5s\n"}, []string{" (REQ) 3 times"}},
		{"asked before and after", func(r *agent.Result) {
			req(r, cm.ForREP, 2, 1000, 2000, 0)
			req(r, cm.ForRefusal, 4, 20000, 21000, 22000)
		}, []string{down}, []string{"REQs: "}},
		{"one has given up, and does not come back", func(r *agent.Result) { r.Connections[3].Ends[0].Addr = host(5) }, []string{
			down, "lost: 10.0.0.2 QP 0x101 and 10.0.0.4 QP 0x102; connected again: 10.0.0.2 at +19.000 s; not in the capture: 10.0.0.4\n",
		}, nil},
		{"others go on together", func(r *agent.Result) {
			r.Connections[4] = connection(7, 6, 0x301, 1, 5500)
			r.Connections = append(r.Connections, connection(7, 6, 0x302, 6500, 29990))
		}, []string{down, "while 10.0.0.6 and 10.0.0.7 went on"}, nil},
		{"others stop for long", func(r *agent.Result) {
			r.Connections[4] = connection(7, 6, 0x301, 1, 3500)
			r.Connections = append(r.Connections, connection(7, 6, 0x302, 8500, 29990))
		}, nil, []string{down}},
		{"another restarts its program", func(r *agent.Result) {
			restarts(r, 8000)
			r.Connections[2].Ends[1].QPN, r.Connections[3].Ends[1].QPN = low, low+1
		}, []string{down, beside, "and had likely restarted"}, nil},
		{"another does, and the host has not restarted", func(r *agent.Result) { restarts(r, 8000) }, []string{down}, []string{"apart: "}},
		{"another refuses only", func(r *agent.Result) {
			restarts(r, 8000)
			r.Connections[5].Closed = agent.Closed{}
			r.Connections[2].Ends[1].QPN, r.Connections[3].Ends[1].QPN = low, low+1
		}, []string{down}, []string{"apart: "}},
		{"others outlast it", func(r *agent.Result) {
			survives(r)
			req(r, cm.ForLate, 2, 4100, 8100, 10000)
			r.Connections = append(r.Connections, connection(1, 5, 0x105, 1, 2990))
		}, []string{"on any connection for 6s meanwhile", silent, "REQs: in vain meanwhile: 10.0.0.2 3 times from +4.100 s on, every 2s\n"}, []string{" (REQ) 3 times"}},
		{"asked twice, the second time when it was back", func(r *agent.Result) {
			req(r, cm.ForSecond, 4, 6000, 17990, 18000)
			r.REQs[0].Times, r.REQs[0].QPN = 2, r.Connections[3].Ends[0].QPN
		}, []string{
			down, "REQs: in vain meanwhile: 10.0.0.4 once from +6.000 s on\n", "; the next connection had been asked for since +6.000 s, by 10.0.0.4: its REQ, sent twice, was answered at +18.000 s\n",
		}, []string{"with the reconnect delay", ", every "}},
		{"asked twice for another", func(r *agent.Result) {
			req(r, cm.ForSecond, 4, 6000, 17990, 18000)
			r.REQs[0].Times, r.REQs[0].QPN = 2, 0x999
		}, []string{down, "with the reconnect delay"}, []string{"had been asked for since"}},
		{"another host asks by ARP", func(r *agent.Result) { arps(r, 9, 4000, 5000, 6000, 7000) }, []string{
			down, "reached: 10.0.0.9 asked for 10.0.0.1 by ARP 4 times, from +4.000 s to +7.000 s, as one that has no answer: it did not reach it either\n",
		}, []string{"next: whether other hosts still reached 10.0.0.1 then"}},
		{"another host asks by ARP once", func(r *agent.Result) { arps(r, 9, 4000) }, []string{down}, []string{"reached: "}},
		{"another host asks by ARP after that", func(r *agent.Result) { arps(r, 9, 14000, 15000, 16000, 17000) }, nil, []string{"reached: "}},
		{"others outlast it, and all go on", func(r *agent.Result) {
			survives(r)
			req(r, cm.ForLate, 2, 14100, 18100, 19000)
		}, []string{"on any connection for 6s meanwhile", " (REQ) 3 times"}, []string{"silent: ", "REQs: "}},
	} {
		r := &agent.Result{RDMA: 8000, Packets: 8000, First: at(0), Last: at(30000), Taps: make([]fabricagent.Tap, 1)}
		r.Connections = []agent.Connection{
			lost(2, 0x101, 3000), lost(4, 0x102, 3100), connection(1, 2, 0x201, 19000, 29990), connection(1, 4, 0x202, 18000, 29990), connection(7, 6, 0x301, 1, 29990),
		}
		r.Signs = []agent.Sign{{Presence: fabricagent.Presence{Host: host(1)}, At: at(9000), Frame: 9000}}
		k.set(r)
		got := ""
		for _, i := range Of(r) {
			got += i.What + "\n"
			for _, f := range i.Facts {
				got += f.Label + ": " + f.Text + "\n"
			}
			for _, next := range i.Next {
				got += "next: " + next + "\n"
			}
		}
		for _, want := range k.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s\nwant %q", k.name, got, want)
			}
		}
		for _, not := range k.not {
			if strings.Contains(got, not) {
				t.Errorf("%s: %s\nand not %q", k.name, got, not)
			}
		}
	}
}
