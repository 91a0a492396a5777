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

// lossScene is a connection between two hosts, 10.0.0.x, the first of which is the requester.
type lossScene struct {
	from, to      byte
	after, before uint32 // requests that were lost, by the side of the tap
	back          uint32 // answers, after the tap
	packets       uint64
	stall         *qp.Stall
}

func (s *lossScene) connection(n int) agent.Connection {
	c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1}
	for e, host := range []byte{s.from, s.to} {
		c.Ends[e] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, host}), QPN: uint32(n + 16*(e+1)), QPNKnown: true, Packets: s.packets, Messages: s.packets, Last: int64(time.Second)}
	}
	if s.after+s.before+s.back == 0 {
		return c
	}
	k := &qp.Trouble{Sum: qp.Stalls{Count: 1, Begun: 5, Last: int64(900 * time.Millisecond), Lost: int64(40 * time.Millisecond)}}
	k.Sum.Rounds[qp.SequenceAsked], k.Sum.Rounds[qp.ResponseLost] = s.after+s.before, s.back
	k.Asked.After, k.Asked.Before, k.Passed = s.after, s.before, s.back
	k.Again.Packets = uint64(s.after + s.before + s.back)
	if s.stall != nil {
		k.Longest[0] = *s.stall
	}
	c.Ends[0].Trouble = k
	return c
}

// TestLead: what was lost on several connections with a host, in one direction, is one incident with sums over all of them, which tells of the stalls that it led to; where one connection lost packets, or
// as much in both directions, it is not.
func TestLead(t *testing.T) {
	const ms = int64(time.Millisecond)
	stalled := func(again bool, timers uint32) *qp.Stall {
		s := &qp.Stall{Since: 100 * ms, Begun: 101 * ms, Last: 280 * ms, Ended: 300 * ms, LostAgain: again, Request: qp.StalledRequest{Frame: 7}}
		s.Rounds[qp.TimerExpired] = timers
		return s
	}
	clean := lossScene{from: 8, to: 9, packets: 9000}
	for _, k := range []struct {
		name string
		list []lossScene
		want string // of the first incident
		n    int    // incidents
		fact string
	}{
		{"to a host, and much from it", []lossScene{{1, 2, 0, 0, 9, 900, nil}, {3, 2, 12, 0, 0, 900, nil}, {2, 4, 0, 0, 12, 900, nil}, clean}, "10.0.0.1 QP 0x10", 3, ""},
		{"to a host, as requests and answers", []lossScene{{2, 1, 0, 0, 9, 900, nil}, {3, 2, 12, 0, 0, 900, nil}, {2, 4, 0, 0, 12, 900, nil}, clean}, "Packets to 10.0.0.2 were lost after the tap, or overtaken there, at least 33 times on 3 connections with 3 hosts, and none from it.", 1, "caused: 12 times by PSN sequence NAKs and 21 times by requesters that lacked responses to READs"},
		{"from a host", []lossScene{{2, 1, 9, 0, 0, 900, nil}, {2, 3, 12, 0, 0, 900, nil}, {2, 4, 10, 0, 0, 900, nil}, clean}, "Packets from 10.0.0.2 to 10.0.0.1, 10.0.0.3 and 10.0.0.4 were lost after the tap, or overtaken there, at least 31 times on 3 connections, and none to it.", 1, "cost: 120ms without progress in all of these connections, up to 0s at a time; 31 of 2,700 packets retransmitted (1.1 %)"},
		{"on one connection", []lossScene{{1, 2, 12, 0, 0, 900, nil}, clean}, "10.0.0.1 QP 0x10 retransmitted", 1, ""},
		{"and some the other way", []lossScene{{1, 2, 20, 0, 0, 900, nil}, {3, 2, 20, 0, 0, 900, nil}, {2, 3, 1, 0, 0, 900, nil}, clean}, "Packets to 10.0.0.2 were lost after the tap, or overtaken there, at least 40 times on 2 of 3 connections with 2 hosts, and once from it.", 1, ""},
		{"both ways", []lossScene{{1, 2, 12, 0, 0, 900, nil}, {2, 3, 12, 0, 0, 900, nil}, clean}, "10.0.0.1 QP 0x10", 2, ""},
		{"with a stall that lost packets again", []lossScene{{1, 2, 12, 0, 0, 900, stalled(true, 1)}, {3, 2, 12, 0, 0, 900, nil}, clean}, "Packets to 10.0.0.2", 1, ""},
		{"with a stall that is one of many losses", []lossScene{{1, 2, 12, 0, 0, 900, nil}, {3, 2, 12, 0, 0, 900, stalled(false, 1)}, clean}, "Nothing that 10.0.0.3", 2, ""},
		{"with a stall of many timers", []lossScene{{1, 2, 12, 0, 0, 900, stalled(true, 5)}, {3, 2, 12, 0, 0, 900, nil}, clean}, "Nothing that 10.0.0.1", 2, ""},
		{"beyond the tap", []lossScene{{1, 2, 9, 0, 0, 900, nil}, {1, 3, 12, 0, 0, 900, nil}, {1, 4, 0, 0, 0, 9000, nil}}, "Packets from 10.0.0.1 to 10.0.0.2 and 10.0.0.3 were lost after the tap, or overtaken there, at least 21 times on 2 connections; between the tap and 10.0.0.4, with 18,000 packets, nothing.", 1, ""},
		{"without another host", []lossScene{{1, 2, 9, 0, 0, 900, nil}, {1, 3, 12, 0, 0, 900, nil}}, "Packets from 10.0.0.1 to 10.0.0.2 and 10.0.0.3 were lost after the tap, or overtaken there, at least 21 times on 2 connections, and none to it.", 1, ""},
	} {
		r := &agent.Result{First: 1, Last: int64(time.Second), RDMA: 1, Taps: make([]fabricagent.Tap, 1)}
		for n := range k.list {
			r.Connections = append(r.Connections, k.list[n].connection(n))
		}
		list := Of(r)
		var facts []string
		for _, f := range list[0].Facts {
			facts = append(facts, f.Label+": "+f.Text)
		}
		if !strings.HasPrefix(list[0].What, k.want) || len(list) != k.n || !strings.Contains(strings.Join(facts, "\n"), k.fact) {
			t.Errorf("%s: %d incidents, %s\n%s", k.name, len(list), list[0].What, strings.Join(facts, "\n"))
		}
	}
}
