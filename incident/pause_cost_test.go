package incident

import (
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/link"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// TestPauseCost adds up what several connections retransmitted in the time of a pause, and not what came long after it, or is of other hosts.
func TestPauseCost(t *testing.T) {
	const ms = int64(time.Millisecond)
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	const both = "cost: 5 packets retransmitted on 2 connections while it lasted, or right after"
	for _, k := range []struct {
		name          string
		first, second int64 // when each of two connections retransmits
		peer          byte  // of the second
		came          bool  // what is retransmitted had come
		nak           bool  // one came in it
		want          string
	}{
		{"one in it, one right after", 150 * ms, 402 * ms, 2, false, false, both},
		{"and nothing was lost", 150 * ms, 402 * ms, 2, true, false, both + "; the first copy of each had passed the tap, and no NAK asked for one: nothing shows a loss"},
		{"and a NAK came", 150 * ms, 402 * ms, 2, true, true, both},
		{"long after", 150 * ms, 500 * ms, 2, true, false, ""},
		{"to another host", 150 * ms, 402 * ms, 4, true, false, ""},
	} {
		r := &agent.Result{First: 1, Last: 1000 * ms, RDMA: 1, Paused: []link.Paused{{
			Hosts: []packet.Addr{host(2)}, Priority: 3, Time: 100 * ms, Frame: 7, LastTime: 400 * ms, LastFrame: 900, Frames: 300, Begun: 1, Least: 9 * time.Millisecond,
			Most: 300 * time.Millisecond, Longest: 300 * time.Millisecond, LongestSince: 100 * ms,
		}}}
		add := func(n int, at int64, from, to byte) {
			for i := range n {
				f := rule.Finding{Rule: rule.EvRetransmission, Class: rule.Event, Time: at, Frame: uint64(800 + i), Accused: rule.Endpoint{Addr: host(from)}, Peer: rule.Endpoint{Addr: host(to), QPN: 17, QPNKnown: true}}
				r.Findings = append(r.Findings, f)
				if f.Rule = rule.EvDuplicate; k.came {
					r.Findings = append(r.Findings, f)
				}
			}
		}
		add(3, k.first, 1, 2)
		add(2, k.second, 3, k.peer)
		if k.nak {
			r.Findings = append(r.Findings, rule.Finding{Rule: rule.EvSeqNAK, Class: rule.Event, Time: 390 * ms, Accused: rule.Endpoint{Addr: host(2)}, Peer: rule.Endpoint{Addr: host(1)}})
		}
		cost := ""
		for _, i := range Of(r) {
			for _, f := range i.Facts {
				if f.Label == "cost" {
					cost = f.Label + ": " + f.Text
				}
			}
		}
		if cost != k.want {
			t.Errorf("%s: %q", k.name, cost)
		}
	}
}

// TestPauseLosses: a loss of which all was retransmitted in one of several pauses, or right after, and which no NAK asked for, is told with what they cost; not where something was retransmitted at another time, or a
// NAK came.
func TestPauseLosses(t *testing.T) {
	const ms = int64(time.Millisecond)
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	for name, k := range map[string]struct {
		last int64 // when the last packet is retransmitted
		nak  bool
		want int
	}{"in both": {1902, false, 1}, "between them": {1000, false, 2}, "a NAK asked": {1902, true, 2}} {
		r := &agent.Result{First: 1, Last: 3000 * ms, RDMA: 1, Paused: []link.Paused{{
			Hosts: []packet.Addr{host(2)}, Priority: 3, Time: 100 * ms, Frame: 7, LastTime: 1900 * ms, LastFrame: 900, Frames: 900, Begun: 2, Least: 9 * time.Millisecond,
			Most: 500 * time.Millisecond, Longest: 300 * time.Millisecond, LongestSince: 100 * ms, Long: []link.Lasting{{From: 100 * ms, To: 400 * ms}, {From: 1700 * ms, To: 1900 * ms}},
		}}}
		for n := range byte(2) {
			for _, at := range []int64{401, k.last} {
				f := rule.Finding{Rule: rule.EvRetransmission, Class: rule.Event, Time: at * ms, Frame: uint64(at), Accused: rule.Endpoint{Addr: host(1)}, Peer: rule.Endpoint{Addr: host(2), QPN: 17 + uint32(n), QPNKnown: true}}
				if r.Findings = append(r.Findings, f); k.nak {
					f.Rule, f.Accused, f.Peer = rule.EvSeqNAK, f.Peer, f.Accused
					r.Findings = append(r.Findings, f)
				}
			}
		}
		c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1, FirstFrame: 1}
		c.Ends[0] = agent.End{Addr: host(1), QPN: 16, QPNKnown: true, Packets: 100, Messages: 100, Retransmissions: 4, Last: 2900 * ms, Trouble: &qp.Trouble{}}
		c.Ends[1] = agent.End{Addr: host(2), QPN: 17, QPNKnown: true, Packets: 100, Last: 2900 * ms}
		sum := &c.Ends[0].Trouble.Sum
		sum.Count, sum.Begun, sum.Last, sum.Ended = 2, 401*ms, k.last*ms, k.last*ms
		sum.Rounds[qp.TimerExpired] = 2
		r.Connections = append(r.Connections, c)
		c.FirstFrame, c.Ends[0].Addr, c.Ends[0].Trouble = 2, host(3), &qp.Trouble{Now: qp.Stall{Since: 99 * ms, Begun: 150 * ms, Last: 350 * ms, Ended: 401 * ms}} // one that stopped
		c.Ends[0].Trouble.Now.Rounds[qp.TimerExpired] = 3
		r.Connections = append(r.Connections, c)
		if list := Of(r); len(list) != k.want {
			t.Errorf("%s: %+v", name, list)
		}
	}
}
