package incident

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// lastTapScene is a run in which two queue pairs of each of two hosts lose packets to 10.0.0.2 after the second of two taps, at the same times: of each two NAKs asked for some at once, and others waited
// for a timer.
func lastTapScene() *agent.Result {
	const ms = int64(time.Millisecond)
	r := &agent.Result{First: 1, Last: 2000 * ms, RDMA: 1, Taps: make([]fabricagent.Tap, 2)}
	for n, from := range []byte{1, 1, 3, 3} {
		s := lossScene{from: from, to: 2, after: 2, packets: 900}
		c := s.connection(n)
		e := &c.Ends[0]
		k := e.Trouble
		k.Sum.Rounds[qp.TimerExpired], k.Sum.Long, e.Timer, c.Ends[1].SequenceNAKs = 2, 2, 300*ms, 2
		for m, at := range []int64{100, 500} {
			x := &k.Longest[m]
			*x = qp.Stall{Since: at*ms + int64(n), Begun: (at + 300) * ms, Last: (at + 300) * ms, Ended: (at+300)*ms + 5000, Packets: 1, Request: qp.StalledRequest{Frame: 7}}
			x.Rounds[qp.TimerExpired] = 1
		}
		for _, at := range []int64{900, 950} {
			r.Findings = append(r.Findings, rule.Finding{
				Rule: rule.EvSeqNAK, Class: rule.Event, Time: at*ms + int64(n),
				Accused: rule.Endpoint{Addr: c.Ends[1].Addr, QPN: c.Ends[1].QPN, QPNKnown: true}, Peer: rule.Endpoint{Addr: e.Addr, QPN: e.QPN, QPNKnown: true},
			})
		}
		r.Connections = append(r.Connections, c)
	}
	clean := lossScene{from: 8, to: 9, packets: 9000}
	r.Connections = append(r.Connections, clean.connection(8))
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	r.TapCounts = []agent.TapCount{
		{Src: host(1), Dst: host(2), Packets: [8]uint64{1800, 1800}, First: [8]uint64{1800}, Asked: [8]uint64{0, 4}},
		{Src: host(3), Dst: host(2), Packets: [8]uint64{0, 1800}, First: [8]uint64{0, 1800}, Asked: [8]uint64{0, 4}},
	}
	return r
}

// TestAfterLastTap: what the last of several taps had shown, and its receiver asks for, was lost after it: where that was at several times, of several connections at once, it is one incident, which tells
// of the times in which timers had to run out for more. Not where it was lost at other times each, before the last tap, as that shows less than another, or it was retransmitted several times, or answered
// late: the host may have stopped for as long then.
func TestAfterLastTap(t *testing.T) {
	const (
		ms     = int64(time.Millisecond)
		told   = "Packets to 10.0.0.2 were lost after tap 1, the last tap on their way, at least 8 times on 4 connections with 2 hosts"
		bursts = "bursts: at least 4 times packets of 4 connections were lost within a millisecond, 4 times those of several hosts (+0.100 s, +0.500 s, +0.900 s and +0.950 s): 16 of the 16 losses that NAKs and timers show"
		shown  = "shown: tap 1 shows all 1,800 packets from 10.0.0.1 to 10.0.0.2 that a tap before it shows, too"
		stalls = "stalls: 300ms of 10.0.0."
		hosts  = "those without it, with 18,000 packets in all, had to retransmit nothing"
	)
	each := func(r *agent.Result, do func(n int, x *qp.Stall)) {
		for n := range r.Connections[:4] {
			for m := range 2 {
				do(n, &r.Connections[n].Ends[0].Trouble.Longest[m])
			}
		}
	}
	for _, k := range []struct {
		name string
		set  func(r *agent.Result)
		told bool
		one  bool // and nothing else is
	}{
		{"in bursts", func(*agent.Result) {}, true, true},
		{"each at another time", func(r *agent.Result) {
			each(r, func(n int, x *qp.Stall) { x.Since += 20 * int64(n) * ms })
			for n := range r.Findings {
				r.Findings[n].Time += 7 * int64(n) * ms
			}
		}, false, false},
		{"retransmitted twice", func(r *agent.Result) {
			each(r, func(n int, x *qp.Stall) {
				x.Rounds[qp.TimerExpired], r.Connections[n].Ends[0].Trouble.Sum.Rounds[qp.TimerExpired] = 2, 4
			})
		}, false, false},
		{"retransmitted twice on one", func(r *agent.Result) {
			each(r, func(n int, x *qp.Stall) {
				if n == 0 {
					x.Rounds[qp.TimerExpired], r.Connections[n].Ends[0].Trouble.Sum.Rounds[qp.TimerExpired] = 2, 4
				}
			})
		}, true, false},
		{"answered late", func(r *agent.Result) { each(r, func(_ int, x *qp.Stall) { x.Ended += 50 * ms }) }, false, false},
		{"before the last tap", func(r *agent.Result) {
			for n := range r.TapCounts {
				r.TapCounts[n].Asked = [8]uint64{4}
			}
		}, false, false},
		{"the last tap lacks some", func(r *agent.Result) { r.TapCounts[0].Packets[1] = 1700 }, false, false},
		{"one tap", func(r *agent.Result) { r.Taps, r.TapCounts = r.Taps[:1], nil }, false, false},
	} {
		r := lastTapScene()
		k.set(r)
		list := Of(r)
		n := slices.IndexFunc(list, func(i Incident) bool { return i.sum != nil && i.sum.lastTap })
		if n < 0 != !k.told {
			t.Errorf("%s: %+v", k.name, list)
			continue
		}
		if n < 0 {
			continue
		}
		got := list[n].What
		for _, f := range list[n].Facts {
			got += "\n" + f.Label + ": " + f.Text
		}
		if waits := slices.ContainsFunc(list, func(i Incident) bool { return i.Kind == Interrupted }); waits == k.one || !strings.Contains(got, stalls) || k.one && len(list) != 1 {
			t.Errorf("%s: %d incidents: %s", k.name, len(list), got)
		}
		for _, want := range []string{told, bursts, shown, hosts} {
			if (want != bursts || k.one) && !strings.Contains(got, want) {
				t.Errorf("%s: %s\nlacks %s", k.name, got, want)
			}
		}
	}
}
