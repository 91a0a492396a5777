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

// TestIncastAfterTap: what NAKs and timers brought of five hosts in the same bursts, and had passed the tap, is one incident of incast,
// with what was retransmitted on all connections, and no short timer or cable fits; where only timers did, the receiver may
// have stopped for a while, and nothing is said of incast.
func TestIncastAfterTap(t *testing.T) {
	const us, ms = int64(time.Microsecond), int64(time.Millisecond)
	const (
		lead = "Packets to 10.0.0.9 were lost after the tap, at least 40 times on 5 connections with 5 hosts, when many of them sent at once."
		told = "8 bursts in which packets of 3 to 5 hosts were lost at once, of each of the 5 about as often: 40 of 40 NAKs and timers are for " +
			"what was sent in them; after 8 of them, at least, something waited for a timer, of 20ms or longer, " +
			"as nothing came after it, or it was lost again"
		cost  = "2,000 of 5,000 packets retransmitted (40 %), 2,000,000 of 5,000,000 bytes of payload (40 %)"
		worst = "retransmitted 400 of 1,000 packets to 10.0.0.9"
	)
	for _, asks := range []bool{true, false} {
		r := &agent.Result{First: 1, Last: int64(time.Second), RDMA: 1}
		addr := func(n int) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, byte(n)}) }
		for h := range 5 {
			c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1, Timing: &timing.Connection{}}
			c.Ends[0] = agent.End{
				Addr: addr(h + 1), QPN: uint32(16 + h), QPNKnown: true, Packets: 1000, Bytes: 1000000, Messages: 100, Retransmissions: 400,
				Last: int64(time.Second), Timer: 20 * ms,
			}
			c.Ends[1] = agent.End{Addr: addr(9), QPN: uint32(16 + h), QPNKnown: true, Packets: 1000, Last: int64(time.Second)}
			x := &qp.Trouble{Sum: qp.Stalls{Count: 8, Begun: 120 * ms, Last: 820 * ms}, Again: qp.Sums{Packets: 400, Bytes: 400000}}
			for b := range 8 {
				at := int64(b+1)*100*ms + int64(h)*2*us
				sender := rule.Endpoint{Addr: addr(h + 1), QPN: uint32(16 + h), QPNKnown: true}
				f := rule.Finding{Class: rule.Event, Accused: sender, Peer: rule.Endpoint{Addr: addr(9)}}
				if asks && (b+h)%4 == 0 {
					x.Sum.Rounds[qp.SequenceAsked]++
					x.Asked.After++
					f.Rule, f.Time, f.Accused, f.Peer = rule.EvSeqNAK, at, f.Peer, f.Accused
					r.Findings = append(r.Findings, f)
					continue
				}
				x.Sum.Rounds[qp.TimerExpired]++
				x.Unsent++
				for _, id := range []rule.ID{rule.EvRetransmission, rule.EvTimeout} {
					f.Rule, f.Time = id, at+20*ms
					r.Findings = append(r.Findings, f)
				}
			}
			c.Ends[0].Trouble = x
			r.Connections = append(r.Connections, c)
		}
		slices.SortStableFunc(r.Findings, func(a, b rule.Finding) int { return int(a.Time - b.Time) })
		list := Of(r)
		i, got := &list[0], map[string]string{}
		for _, f := range i.Facts {
			got[f.Label] = f.Text
		}
		fits := strings.Join(i.FitsWith, "; ")
		if (i.What == lead) != asks || (got["incast"] == told) != asks || asks && (len(list) != 1 || got["cost"] != cost ||
			!strings.Contains(got["worst"], worst) || !strings.HasPrefix(fits, "incast: ")) ||
			asks && (strings.Contains(fits, badCable) || strings.Contains(fits, "timer") || strings.Contains(fits, overtaking)) {
			t.Errorf("NAKs %v: %d incidents, %s %q %s", asks, len(list), i.What, got, fits)
		}
	}
}

// TestNoneLate: that a timer is shorter than an answer takes does not fit where the responder sent nothing before the copies, or
// answered each of the longest waits right after them; it does where answers came some time later, or the
// copies were answered too.
func TestNoneLate(t *testing.T) {
	const ms = int64(time.Millisecond)
	for _, k := range []struct {
		name   string
		unsent uint32
		took   int64 // from the copies to the answer
		late   bool
		want   bool
	}{
		{"nothing sent", 9, 30 * ms, false, true},
		{"right after the copies", 0, ms / 10, false, true},
		{"some time later", 0, 5 * ms, false, false},
		{"each copy answered", 0, ms / 10, true, false},
	} {
		x := &qp.Trouble{Sum: qp.Stalls{Rounds: [qp.NumCauses]uint32{qp.TimerExpired: 9}}, Unsent: k.unsent}
		for n := range x.Longest {
			at := int64(n+1) * 1000 * ms
			again := at + 67*ms
			x.Longest[n] = qp.Stall{Since: at, Begun: again, Last: again, Ended: again + k.took, Late: k.late}
			x.Longest[n].Rounds[qp.TimerExpired] = 1
		}
		i := &Incident{Kind: Retransmitting}
		stormReasons(i, x)
		short := strings.Contains(strings.Join(i.FitsWith, "; "), "a retransmission timer that is shorter than an answer takes")
		if short == k.want || noneLate(x) != k.want {
			t.Errorf("%s: %v", k.name, short)
		}
	}
}
