package incident

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/upper"
	"ibwitness/wqe"
)

// untakenREADs makes a connection from a time on, on which a server retransmits a READ every 2 s so many times though each answer passes the tap, for a command that waits; it ends 2 s after the
// last of them, or never.
func untakenREADs(qpn uint32, from int64, rounds uint32, closed bool) agent.Connection {
	const period = 2e9
	c := agent.Connection{Service: packet.RC, PairedBy: agent.ByCM, First: from, FirstFrame: uint64(qpn) << 8}
	for k := range c.Ends {
		c.Ends[k] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(k + 1)}), QPN: qpn, QPNKnown: true, Packets: 900, Messages: 400, Last: from + int64(rounds)*period}
	}
	c.Upper = &agent.Upper{
		Protocol: "RPC over RDMA", Answered: true, Counts: upper.Counts{Open: 4, Ended: 9},
		Oldest: &agent.Operation{Name: fmt.Sprintf("NFS version 3 WRITE, XID 0x%x", qpn), Since: from, Frame: c.FirstFrame},
	}
	x := &qp.Trouble{}
	for n := range int64(rounds) {
		s := qp.Stall{
			Request: qp.StalledRequest{Op: wqe.Read, PSN: 77, First: 77, Length: 262144, Frame: c.FirstFrame + 1}, Since: from + n*period, Begun: from + (n+1)*period, Last: from + (n+1)*period,
			Ended: from + (n+1)*period + 1e5, AnswerLost: true, Acked: true, Packets: 1, Frames: qp.StallFrames{Begun: [3]uint64{c.FirstFrame + uint64(n) + 2}, Last: c.FirstFrame + uint64(n) + 2, Ended: c.FirstFrame + uint64(n) + 3},
		}
		s.Rounds[qp.TimerExpired] = 1
		if n < int64(len(x.Longest)) {
			x.Longest[n] = s
		}
		x.Sum.Count, x.Sum.Last, x.Sum.Frames.Last = x.Sum.Count+1, s.Last, s.Frames.Last
		x.Sum.Rounds[qp.TimerExpired]++
		if n == 0 {
			x.Sum.Begun, x.Sum.Frames.Begun[0] = s.Begun, s.Frames.Begun[0]
		}
	}
	c.Ends[1].Trouble = x
	if closed {
		c.Closed = agent.Closed{By: c.Ends[1].Addr, At: x.Sum.Last + period, Frame: c.FirstFrame + 90}
	}
	return c
}

// TestWaitsForUntaken: commands whose server retransmits READs, the answers to which pass the tap and do not arrive, wait for the transport: they are told with that, of all connections of the hosts on which it is
// so, the one that the capture cuts, too. Where the server took the answer in the end, they wait for the server.
func TestWaitsForUntaken(t *testing.T) {
	const (
		start = int64(3600e9)
		waits = "12 commands on 3 connections between the hosts have no answer, and their server lacks those to its own READs there"
	)
	list := Of(&agent.Result{RDMA: 9000, Packets: 9000, First: start, Last: start + 61e9, Connections: []agent.Connection{
		untakenREADs(0x11, start+1e9, 7, true), untakenREADs(0x12, start+20e9, 7, true), untakenREADs(0x13, start+52e9, 4, false),
	}})
	if len(list) != 1 || list[0].Kind != Unanswered || list[0].Connections != 3 || !told(&list[0], "waits", waits) {
		t.Errorf("%+v", list)
	}
	for _, k := range []struct {
		name   string
		rounds uint32
		last   int64 // of the capture
		closed bool
		want   Kind
	}{{"it went on", 2, 61e9, false, Waiting}, {"the capture cuts it", 2, 6e9, false, Interrupted}, {"the capture cuts more rounds", 6, 14e9, false, Interrupted}, {"it gave up", 7, 61e9, true, Unanswered}} {
		list := Of(&agent.Result{RDMA: 9000, Packets: 9000, First: start, Last: start + k.last, Connections: []agent.Connection{untakenREADs(0x11, start+1e9, k.rounds, k.closed)}})
		waiting := slices.ContainsFunc(list, func(i Incident) bool { return i.Kind == Waiting })
		if len(list) == 0 || list[0].Kind != k.want || waiting != (k.want == Waiting) {
			t.Errorf("%s: %+v", k.name, list)
			continue
		}
		if s := fmt.Sprintf("; %s in all, as answers to it passed the tap in between", times(uint64(k.rounds+1))); k.want == Interrupted && k.rounds < 5 != strings.HasSuffix(list[0].Facts[0].Text, "sent twice"+s) {
			t.Errorf("%s: %+v", k.name, list)
		}
	}
}

// told reports whether an incident has a fact that begins so.
func told(i *Incident, label, text string) bool {
	for _, f := range i.Facts {
		if f.Label == label && strings.HasPrefix(f.Text, text) {
			return true
		}
	}
	return false
}

// TestSlowForUntaken: a command that its server answered late, as answers to a READ of its own did not arrive in most of that time, is not told as slow, though no round of retransmission took long for itself.
func TestSlowForUntaken(t *testing.T) {
	const start = int64(3600e9)
	for rounds, slow := range map[uint32]bool{7: false, 0: true} {
		c := untakenREADs(0x11, start+1e9, max(rounds, 1), false)
		if rounds == 0 {
			c.Ends[1].Trouble = nil
		}
		o := *c.Upper.Oldest
		o.Ended, o.Answer = start+1e9+int64(max(rounds, 7))*2e9+1e9, 7000
		c.Upper.Oldest, c.Upper.Open, c.Upper.Slow, c.Upper.Slowest, c.Upper.Longest = nil, 0, 1, &o, []*agent.Operation{&o}
		for k := range c.Ends {
			c.Ends[k].Last = start + 60e9
		}
		is := false
		for _, i := range Of(&agent.Result{RDMA: 9000, Packets: 9000, First: start, Last: start + 61e9, Connections: []agent.Connection{c}}) {
			is = is || i.Kind == Slow
		}
		if is != slow {
			t.Errorf("%d rounds: %t", rounds, is)
		}
	}
}
