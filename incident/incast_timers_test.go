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
	"ibwitness/timing"
)

// TestIncastTimers: ends of messages that only timers brought, and that were lost before the tap in the same bursts of several hosts, again and again, are one incident, of incast; one without that where they were lost here
// and there, and several where they had passed the tap. That ECN marks nothing is told where all these hosts send packets that are ECN-capable, and none is marked.
func TestIncastTimers(t *testing.T) {
	const us, ms = int64(time.Microsecond), int64(time.Millisecond)
	const (
		lead  = "Packets to 10.0.0.9 were lost before the tap, at least 40 times on 5 connections with 5 hosts, when many of them sent at once."
		told  = "8 bursts in which packets of 3 to 5 hosts were lost at once, of each of the 5 about as often: 40 of 40 NAKs and timers are for what was sent in them; after 8 of them, at least, something waited for a timer, as nothing came after it, or it was lost again"
		marks = "none, though what these hosts send is ECN-capable: a queue that drops it does so without ECN marking, and without PFC"
	)
	for _, k := range []struct {
		name            string
		apart           int64 // of what was lost of a host and of the next
		passed, capable bool  // the tap; ECN
		marked          uint64
		incast, unmarks bool
	}{
		{"at once", 2 * us, false, false, 0, true, false},
		{"at once, ECN-capable", 2 * us, false, true, 0, true, true},
		{"at once, and marked", 2 * us, false, true, 9, true, false},
		{"here and there", 3 * ms, false, true, 0, false, false},
		{"had passed the tap", 2 * us, true, true, 0, false, false},
	} {
		r := &agent.Result{First: 1, Last: int64(time.Second), RDMA: 1}
		addr := func(n int) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, byte(n)}) }
		for h := range 5 {
			c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1, Timing: &timing.Connection{}}
			c.Ends[0] = agent.End{Addr: addr(h + 1), QPN: uint32(16 + h), QPNKnown: true, Packets: 1000, Messages: 100, Last: int64(time.Second), Timer: 20 * ms, ECNCapable: k.capable}
			c.Ends[1] = agent.End{Addr: addr(9), QPN: uint32(16 + h), QPNKnown: true, Packets: 1000, Last: int64(time.Second)}
			c.Timing.Ends[0].Marked = k.marked
			for b := range 8 {
				f := rule.Finding{
					Rule: rule.EvTimeout, Class: rule.Event, Time: int64(b+1)*100*ms + 20*ms + int64(h)*k.apart,
					Accused: rule.Endpoint{Addr: addr(h + 1), QPN: uint32(16 + h), QPNKnown: true}, Peer: rule.Endpoint{Addr: addr(9)},
				}
				again := f
				again.Rule = rule.EvRetransmission
				r.Findings = append(r.Findings, again, f)
			}
			x := &qp.Trouble{Sum: qp.Stalls{Count: 8, Rounds: [qp.NumCauses]uint32{qp.TimerExpired: 8}, Before: 8, Begun: 120 * ms, Last: 820 * ms}}
			if k.passed {
				x.Sum.Before = 0
			}
			c.Ends[0].Trouble = x
			r.Connections = append(r.Connections, c)
		}
		slices.SortStableFunc(r.Findings, func(a, b rule.Finding) int { return int(a.Time - b.Time) })
		list := Of(r)
		got := map[string]string{}
		for _, f := range list[0].Facts {
			got[f.Label] = f.Text
		}
		if (list[0].What == lead) != k.incast || (got["incast"] == told) != k.incast || (got["marks"] == marks) != k.unmarks || (got["marks"] == "") == k.unmarks || (len(list) == 1) == k.passed || strings.HasPrefix(list[0].FitsWith[0], "incast: a queue before the tap") != k.incast {
			t.Errorf("%s: %d incidents, %s %q", k.name, len(list), list[0].What, got)
		}
	}
}

// TestStormOfTimers: that a timer is shorter than an answer takes fits where timers had most retransmitted, and not where most of that had been lost before the tap.
func TestStormOfTimers(t *testing.T) {
	for before, want := range map[uint32]bool{0: true, 4: true, 5: false} {
		i := &Incident{Kind: Retransmitting}
		stormReasons(i, &qp.Trouble{Sum: qp.Stalls{Rounds: [qp.NumCauses]uint32{qp.TimerExpired: 9, qp.SequenceAsked: 4}, Before: before}})
		if got := strings.Contains(strings.Join(i.FitsWith, "; "), "a retransmission timer that is shorter than an answer takes"); got != want {
			t.Errorf("%d of 9 before the tap: %v", before, got)
		}
	}
}

// TestIncastStorm: losses after the tap of which NAKs came in incasts only are told as one, with as many timers; a cable does not fit them, and what explains them worse comes last.
func TestIncastStorm(t *testing.T) {
	s := lossSum{to: true, lossy: 12, after: 62, naks: 62, timers: 35, unsure: 35}
	if s.tells() || s.where() == afterTap {
		t.Error("it tells without an incast")
	}
	if s.incast = true; !s.tells() || s.where() != afterTap {
		t.Error("it does not tell with an incast")
	}
	if s.unsure = 63; s.tells() {
		t.Error("it tells of more timers than NAKs")
	}
	i := Incident{FitsWith: []string{badCable, tooShort, overtaking, "another"}}
	if i.onlyInIncasts(); !slices.Equal(i.FitsWith, []string{"another", tooShort, overtaking}) {
		t.Error(i.FitsWith)
	}
}
