package incident

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// TestOneOfMany: of losses after the tap to one of two hosts, the sentence tells the number on all connections to it, and that there were none to the other; an interruption for one packet that was
// lost among them is told with them. What it cost is that of all connections. Where one connection lost packets, its own sentence stays; few losses, or losses at another time, do not explain an interruption.
func TestOneOfMany(t *testing.T) {
	at := func(ms int64) int64 { return ms * int64(time.Millisecond) }
	addr := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	wait := func(since int64) qp.Stall {
		s := qp.Stall{Request: qp.StalledRequest{Op: wqe.Write, PSN: 9, First: 9, Length: 64, Frame: 7}, Since: since, Begun: since + at(130), Last: since + at(130), Ended: since + at(131), Packets: 1, Bytes: 64}
		s.Rounds[qp.TimerExpired] = 1
		return s
	}
	with := func(s qp.Stall, asked, timers uint32, again bool) qp.Stall {
		s.Rounds[qp.SequenceAsked], s.Rounds[qp.TimerExpired], s.LostAgain = asked, timers, again
		return s
	}
	connection := func(n uint32, to byte, naks uint32, waits ...qp.Stall) agent.Connection {
		c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1}
		c.Ends[0] = agent.End{Addr: addr(1), QPN: n, QPNKnown: true, Packets: 1000, Messages: 1000, Last: at(1000)}
		c.Ends[1] = agent.End{Addr: addr(to), QPN: n + 16, QPNKnown: true, Packets: 100, Last: at(1000)}
		if naks == 0 {
			return c
		}
		x := &qp.Trouble{Sum: qp.Stalls{Count: naks, Begun: at(5), Last: at(900)}}
		x.Sum.Rounds[qp.SequenceAsked], x.Asked.After, x.Again.Packets, c.Ends[0].Retransmissions = naks, naks, 2*uint64(naks), 2*naks
		x.Sum.Lost = int64(naks) * at(1)
		copy(x.Longest[:], waits)
		x.Sum.Rounds[qp.TimerExpired] = uint32(len(waits))
		c.Ends[0].Trouble = x
		return c
	}
	const all = "loss: 10.0.0.1 retransmitted 40 of 2,000 packets to 10.0.0.2 on 2 connections (2 %): lost after the tap, on the way there (20 PSN sequence NAKs"
	const costAll = "20ms without progress in all of these connections, up to "
	const beside = "; between the tap and 10.0.0.3, with 1,100 packets, nothing."
	for _, k := range []struct {
		name  string
		list  []agent.Connection
		want  []string
		waits string
	}{
		{"on all connections", []agent.Connection{connection(1, 2, 10), connection(2, 2, 10), connection(3, 3, 0)}, []string{all + ")" + beside}, ""},
		{
			"and an interruption",
			[]agent.Connection{connection(1, 2, 10, wait(at(300))), connection(2, 2, 10), connection(3, 3, 0)},
			[]string{all + " and 1 timeout)" + beside},
			"131ms until a timer brought what was lost again: RDMA WRITE of 64 bytes, PSN 0x000009, in frame 7, sent twice",
		},
		{
			"which a NAK asked for first",
			[]agent.Connection{connection(1, 2, 10, with(wait(at(300)), 1, 2, false)), connection(2, 2, 10), connection(3, 3, 0)},
			[]string{all + " and 1 timeout)" + beside},
			"131ms until a timer brought what was lost again: RDMA WRITE of 64 bytes, PSN 0x000009, in frame 7, sent 4 times",
		},
		{
			"with more rounds of the timer",
			[]agent.Connection{connection(1, 2, 10, with(wait(at(300)), 1, 3, false)), connection(2, 2, 10), connection(3, 3, 0)},
			[]string{"interrupted: Nothing that 10.0.0.1 QP 0x1", all},
			"",
		},
		{
			"and one that was lost again",
			[]agent.Connection{connection(1, 2, 10, wait(at(300))), connection(2, 2, 10, with(wait(at(310)), 0, 1, true)), connection(3, 3, 0)},
			[]string{all + " and 2 timeouts)" + beside},
			"131ms until a timer brought what was lost again: RDMA WRITE of 64 bytes, PSN 0x000009, in frame 7, sent twice; likewise on 1 more connection",
		},
		{"on one", []agent.Connection{connection(1, 2, 20), connection(3, 3, 0)}, []string{"loss: 10.0.0.1 QP 0x1 retransmitted 40 of 1,000 packets"}, ""},
		{"and none beside them", []agent.Connection{connection(1, 2, 10), connection(2, 2, 10)}, []string{"loss: 10.0.0.1 QP 0x1 retransmitted 20 of 1,000 packets"}, ""},
		{"an interruption beside few", []agent.Connection{connection(1, 2, 3, wait(at(300))), connection(3, 3, 0)}, []string{"interrupted: Nothing that 10.0.0.1 QP 0x1", "loss: 10.0.0.1 QP 0x1"}, ""},
		{"at another time", []agent.Connection{connection(1, 2, 10, wait(at(3000))), connection(2, 2, 10), connection(3, 3, 0)}, []string{"interrupted: Nothing that 10.0.0.1 QP 0x1", all}, ""},
	} {
		var got []string
		waits, cost := "", ""
		for _, i := range Of(&agent.Result{First: 1, Last: at(5000), RDMA: 1, Connections: k.list}) {
			got = append(got, i.Kind.String()+": "+i.What)
			if n := slices.IndexFunc(i.Facts, func(f Fact) bool { return f.Label == "waits" }); n >= 0 {
				waits = i.Facts[n].Text
			}
			if n := slices.IndexFunc(i.Facts, func(f Fact) bool { return f.Label == "cost" }); n >= 0 && i.Kind == Loss {
				cost = i.Facts[n].Text
			}
		}
		if !slices.EqualFunc(got, k.want, strings.HasPrefix) || waits != k.waits {
			t.Errorf("%s: %q, waits %q", k.name, got, waits)
		}
		if strings.HasPrefix(k.want[len(k.want)-1], all) != strings.HasPrefix(cost, costAll) {
			t.Errorf("%s: cost %q", k.name, cost)
		}
	}
}
