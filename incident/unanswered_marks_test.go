package incident

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// TestUnlikeOther: where a receiver answers no marks, and another, to which the same hosts send, does, that is told first, with the stalls and losses of what is sent to it, and the notification point fits and is
// next; not where no receiver answers marks, where only other hosts send to that which does, or where the capture holds nothing that the first sends. Losses after the tap are told apart.
func TestUnlikeOther(t *testing.T) {
	const ms = int64(time.Millisecond)
	addr := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	const (
		what = "10.0.0.9 sent no notification (CNP), though the network marked 200 packets from 2 hosts to it as having met congestion; 10.0.0.8, to which 10.0.0.1 sends too, answered 100 marked packets with 20 CNPs."
		cost = "300ms without progress in all, up to 108ms at a time; 80 of 2,000 packets from 2 hosts to 10.0.0.9 were retransmitted (4 %), 80,000 bytes of payload"
		lost = "before the tap, at least 40 times on 2 connections (40 PSN sequence NAKs)"
	)
	for _, k := range []struct {
		name         string
		to8          byte // who sends to the other receiver
		cnps         int
		silent       bool // the first receiver sends nothing in the capture
		after        uint32
		unlike, lead bool
	}{
		{"another answers", 1, 20, false, 0, true, true},
		{"lost after the tap", 1, 20, false, 20, true, false},
		{"no other answers", 1, 0, false, 0, false, false},
		{"other senders", 3, 20, false, 0, false, false},
		{"nothing of it in the capture", 1, 20, true, 0, false, false},
	} {
		r := &agent.Result{First: ms, Last: 3000 * ms, RDMA: 1}
		for n, x := range [...]struct{ from, to byte }{{1, 9}, {2, 9}, {k.to8, 8}} {
			c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: ms, FirstFrame: uint64(n + 1)}
			c.Ends[0] = agent.End{Addr: addr(x.from), QPN: uint32(n + 16), QPNKnown: true, Packets: 1000, Messages: 1000, Last: 2000 * ms}
			c.Ends[1] = agent.End{Addr: addr(x.to), QPN: uint32(n + 16), QPNKnown: true, Packets: 1000, Last: 2000 * ms}
			if k.silent && x.to == 9 {
				c.Ends[1].Packets, c.Ends[1].Last = 0, 0
			}
			if x.to == 9 {
				c.Ends[0].Retransmissions = 40
				y := &qp.Trouble{Sum: qp.Stalls{Count: 20, Begun: ms, Last: 1500 * ms, Lost: 150 * ms}, Again: qp.Sums{Packets: 40, Bytes: 40000}}
				y.Sum.Rounds[qp.SequenceAsked], y.Asked.Before, y.Asked.After = 20, 20-k.after, k.after
				if n == 0 {
					s := qp.Stall{Since: 500 * ms, Begun: 607 * ms, Last: 607 * ms, Ended: 608 * ms, Packets: 1, Request: qp.StalledRequest{Op: wqe.Write, Frame: 50}}
					s.Rounds[qp.TimerExpired] = 1
					y.Longest[0] = s
				}
				c.Ends[0].Trouble = y
			}
			r.Connections = append(r.Connections, c)
			for m := range 100 {
				marked := rule.Finding{Rule: rule.EvCE, Class: rule.Event, Time: int64(m+1) * 10 * ms, Frame: uint64(1000*n + m + 10), Accused: rule.Endpoint{Addr: addr(x.from)}, Peer: rule.Endpoint{Addr: addr(x.to)}}
				if r.Findings = append(r.Findings, marked); x.to == 8 && m < k.cnps {
					marked.Rule, marked.Accused, marked.Peer = rule.EvCNP, marked.Peer, marked.Accused
					r.Findings = append(r.Findings, marked)
				}
			}
		}
		list := Of(r)
		i := &list[0]
		at := slices.IndexFunc(list, func(i Incident) bool { return i.Kind == Congestion && i.Peer.Addr == addr(9) })
		if at < 0 {
			t.Fatalf("%s: %+v", k.name, list)
		}
		got := map[string]string{}
		for _, f := range list[at].Facts {
			got[f.Label] = f.Text
		}
		point := strings.HasPrefix(list[at].FitsWith[0], "a notification point of 10.0.0.9 that is off") && strings.HasPrefix(list[at].Next[0], "congestion control on 10.0.0.9, beside that of 10.0.0.8: the RoCE notification point")
		if (list[at].What == what) != k.unlike || point != k.unlike || (got["beside"] == "nothing that was sent to 10.0.0.8 was retransmitted") != k.unlike {
			t.Errorf("%s: %s %q %q", k.name, list[at].What, list[at].FitsWith, got)
		}
		told := i.What == what && got["cost"] == cost && got["lost"] == lost && got["stalls"] == "108ms of 10.0.0.1 QP 0x10, until a timer brought what was lost again" && len(list) == 2
		if told != k.lead || k.lead && at != 0 || i.Loses() != k.lead {
			t.Errorf("%s: %d incidents, %s %q", k.name, len(list), i.What, got)
		}
	}
}
