package incident

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// TestSidesOfTap: where all connections have one host in common, that packets are lost between another and the tap is told only where others lose nothing there, which sent enough to tell, and the tap
// is one.
func TestSidesOfTap(t *testing.T) {
	type sent struct {
		host    byte
		to      bool   // it is the responder
		far     uint32 // rounds for what was lost on its side of the tap, and on the other
		near    uint32
		packets uint64
	}
	const way = "the link, adapter or switch port of 10.0.0.2, or what is between there and the tap"
	for _, k := range []struct {
		name string
		list []sent
		taps int
		want string
	}{
		{"one way", []sent{{2, false, 9, 4, 1000}, {3, false, 0, 3, 1000}}, 1, "lost between the tap and 10.0.0.2 (9 times); between it and 10.0.0.3, with 2,000 packets, nothing; " +
			"between it and 10.0.0.1, which all connections have in common, 7 times (4 with 10.0.0.2 and 3 with 10.0.0.3)"},
		{"as responders", []sent{{2, true, 9, 4, 1000}, {3, false, 0, 3, 1000}}, 1, "lost between the tap and 10.0.0.2 (9 times); between it and 10.0.0.3, with 2,000 packets, nothing; " +
			"between it and 10.0.0.1, which all connections have in common, 7 times (4 with 10.0.0.2 and 3 with 10.0.0.3)"},
		{"none on the other side", []sent{{2, false, 9, 0, 1000}, {3, false, 0, 0, 1000}}, 1, "lost between the tap and 10.0.0.2 (9 times); between it and 10.0.0.3, with 2,000 packets, nothing"},
		{"both ways", []sent{{2, false, 9, 0, 1000}, {3, false, 1, 0, 1000}}, 1, ""},
		{"too few to tell", []sent{{2, false, 9, 4, 1000}, {3, false, 0, 3, 100}}, 1, ""},
		{"once by chance", []sent{{2, false, 2, 4, 1000}, {3, false, 0, 3, 10000}}, 1, ""},
		{"two taps", []sent{{2, false, 9, 4, 1000}, {3, false, 0, 3, 1000}}, 2, ""},
	} {
		r := &agent.Result{First: 1, Last: int64(time.Second), RDMA: 1, Taps: make([]fabricagent.Tap, k.taps)}
		for n, s := range k.list {
			c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1}
			hosts := [2]byte{s.host, 1} // the requester, and the responder
			if s.to {
				hosts = [2]byte{1, s.host}
			}
			for e, host := range hosts {
				c.Ends[e] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, host}), QPN: uint32(n + 16*(e+1)), QPNKnown: true, Packets: s.packets, Messages: s.packets, Last: int64(time.Second)}
			}
			if rounds := s.far + s.near; rounds > 0 {
				x := &qp.Trouble{Sum: qp.Stalls{Count: 1, Begun: 5, Last: 9}}
				x.Sum.Rounds[qp.SequenceAsked] = rounds
				if x.Asked.Before, x.Asked.After = s.far, s.near; s.to {
					x.Asked.Before, x.Asked.After = s.near, s.far
				}
				c.Ends[0].Trouble = x
			}
			r.Connections = append(r.Connections, c)
		}
		got, fits := "", ""
		for _, i := range Of(r) {
			fits += strings.Join(i.FitsWith, "; ")
			for _, f := range i.Facts {
				if f.Label == "sides" {
					got += f.Text
				}
			}
		}
		if got != k.want || strings.Contains(fits, way) != (k.want != "") || strings.Contains(fits, "what is between the tap and 10.0.0.1") != strings.Contains(k.want, "in common, 7 times") {
			t.Errorf("%s: %q\nwant %q\nfits %q", k.name, got, k.want, fits)
		}
	}
}

// TestLostBeyond: where all losses are between the tap and one host, fits says that once, and of answers to that host that were lost there the same incident tells; not where some were lost elsewhere.
func TestLostBeyond(t *testing.T) {
	const (
		lead  = "Packets from 10.0.0.1 to 10.0.0.2 were lost after the tap"
		place = "the link, adapter or switch port of 10.0.0.2, or what is between there and the tap: packets are damaged, or a full queue drops them"
	)
	for _, k := range []struct {
		name               string
		near, back, timers uint32
		fits               string
		answers            bool
	}{
		{"requests", 0, 0, 0, place + "; " + overtaking, false},
		{"requests and answers", 0, 4, 0, place, true},
		{"few timers", 0, 4, 4, place, true},
		{"several timers", 0, 4, 8, place, true},
		{"on both sides", 3, 4, 0, "the link, adapter or switch port of 10.0.0.2, or what is between there and the tap; what is between the tap and 10.0.0.1; " + queueDrops + "; " + badCable + "; " + overtaking, true},
	} {
		r := &agent.Result{First: 1, Last: int64(time.Second), RDMA: 1, Taps: make([]fabricagent.Tap, 1)}
		for n, host := range []byte{2, 2, 3} {
			c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1}
			hosts := [2]byte{1, host} // the requester, and the responder
			if n == 1 {
				hosts = [2]byte{host, 1}
			}
			for e, host := range hosts {
				c.Ends[e] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, host}), QPN: uint32(n + 16*(e+1)), QPNKnown: true, Packets: 9000, Messages: 9000, Last: int64(time.Second)}
			}
			x := &qp.Trouble{Sum: qp.Stalls{Count: 1, Begun: 5, Last: 9}}
			switch {
			case n == 0:
				x.Sum.Rounds[qp.SequenceAsked], x.Asked.After, x.Asked.Before = 40+k.near, 40, k.near
				x.Sum.Rounds[qp.TimerExpired] = k.timers
				c.Ends[0].Trouble, c.Ends[0].Retransmissions = x, 90
			case n == 1 && k.back > 0:
				x.Sum.Rounds[qp.TimerExpired], x.AnswersSeen = k.back, k.back
				c.Ends[0].Trouble = x
			}
			r.Connections = append(r.Connections, c)
		}
		list := Of(r)
		if len(list) == 0 {
			t.Fatalf("%s: nothing", k.name)
		}
		if got := strings.Join(list[0].FitsWith, "; "); got != k.fits || strings.HasPrefix(list[0].What, lead) != k.answers || (len(list) == 1) != (k.answers || k.back == 0) {
			t.Errorf("%s: %q, fits %q, %d incidents", k.name, list[0].What, got, len(list))
		}
	}
}
