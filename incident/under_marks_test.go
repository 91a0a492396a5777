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
	"ibwitness/wqe"
)

// TestIncastUnderMarks: where what several hosts send to one is marked, and is lost before the tap in bursts, of these alike, that is one
// incident, with the stall of a connection of which only a timer brought the end of a
// message; not where it was lost here and there, where it had passed the tap, or where few send.
func TestIncastUnderMarks(t *testing.T) {
	const us, ms = int64(time.Microsecond), int64(time.Millisecond)
	const (
		what = "The network marked 100 packets from 5 hosts to 10.0.0.9 as having met congestion, and 10.0.0.9 asked them to slow " +
			"down with 50 CNPs; packets of each of these hosts were lost before the tap, too, at least 41 times, when many of them " +
			"sent at once."
		lost   = "before the tap, at least 41 times on 5 connections (40 PSN sequence NAKs, 1 timeout)"
		timers = "once one of 107ms or longer had to run out for what the tap had not seen, as for the end of a message: nothing comes " +
			"after it, so that its receiver cannot ask for it"
		incast = "8 bursts in which NAKs asked for what up to 5 hosts had sent at once, of each host about as often; they last 64µs in " +
			"all, and 40 of 40 PSN sequence NAKs came in them; after 1 of them, at least, something waited for a timer, as it was " +
			"lost again, or nothing came after it"
	)
	for _, k := range []struct {
		name   string
		hosts  int
		apart  int64 // of what was lost of a host and of the next
		passed bool  // the tap
		leads  bool
	}{
		{"at once", 5, 2 * us, false, true},
		{"here and there", 5, 3 * ms, false, false},
		{"had passed the tap", 5, 2 * us, true, false},
		{"few", 3, 2 * us, false, false},
	} {
		r := &agent.Result{First: 1, Last: 2000 * ms, RDMA: 1}
		addr := func(n int) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, byte(n)}) }
		for h := range k.hosts {
			c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1, Timing: &timing.Connection{}}
			from, to := rule.Endpoint{Addr: addr(h + 1), QPN: uint32(16 + h), QPNKnown: true}, rule.Endpoint{Addr: addr(9)}
			c.Ends[0] = agent.End{Addr: addr(h + 1), QPN: uint32(16 + h), QPNKnown: true, Packets: 1000, Messages: 100, Last: 2000 * ms}
			c.Ends[0].Retransmissions = 41
			c.Ends[1] = agent.End{Addr: addr(9), QPN: uint32(16 + h), QPNKnown: true, Packets: 1000, Last: 2000 * ms}
			c.Timing.Ends[0].Marked = 20
			add := func(id rule.ID, at int64, a, b rule.Endpoint) {
				r.Findings = append(r.Findings, rule.Finding{Rule: id, Class: rule.Event, Time: at, Accused: a, Peer: b})
			}
			for n := range int64(20) {
				if add(rule.EvCE, (n+1)*50*ms+int64(h), from, to); n%2 == 0 {
					add(rule.EvCNP, (n+1)*50*ms+int64(h)+5*us, to, from)
				}
			}
			for b := range int64(8) {
				at := (b+1)*200*ms + int64(h)*k.apart
				add(rule.EvSeqNAK, at, to, from)
				add(rule.EvRetransmission, at+3*us, from, to)
			}
			x := &qp.Trouble{Sum: qp.Stalls{Count: 8, Rounds: [qp.NumCauses]uint32{qp.SequenceAsked: 8}, Begun: 200 * ms, Last: 1610 * ms}}
			x.Again.Packets = 8
			if x.Asked.Before = 8; k.passed {
				x.Asked.Before, x.Asked.After = 0, 8
			}
			if h == 0 { // the end of a message
				s := qp.Stall{Since: 800 * ms, Begun: 907 * ms, Last: 907 * ms, Ended: 908 * ms, Packets: 1, Unseen: 1}
				s.Request = qp.StalledRequest{Op: wqe.Write, Frame: 50}
				s.Rounds[qp.TimerExpired], x.Sum.Rounds[qp.TimerExpired] = 1, 1
				x.Sum.Before, x.Longest[0], x.Sum.Long = 1, s, 1
				c.Ends[0].Timer = 107 * ms
				add(rule.EvTimeout, 907*ms, from, to)
				add(rule.EvRetransmission, 907*ms, from, to)
			}
			c.Ends[0].Trouble = x
			r.Connections = append(r.Connections, c)
		}
		slices.SortStableFunc(r.Findings, func(a, b rule.Finding) int { return int(a.Time - b.Time) })
		list := Of(r)
		i := &list[0]
		got := map[string]string{}
		for _, f := range i.Facts {
			got[f.Label] = f.Text
		}
		led := i.What == what && got["lost"] == lost && got["timers"] == timers && got["incast"] == incast && len(list) == 1 &&
			got["stalls"] == "108ms of 10.0.0.1 QP 0x10, until a timer brought what was lost again" &&
			strings.HasPrefix(i.FitsWith[0], "incast: a queue before the tap") && strings.HasPrefix(i.Next[0], "what the switch port to 10.0.0.9, and")
		some := slices.ContainsFunc(list, func(i Incident) bool { return strings.Contains(i.What, "lost before the tap, too") })
		if led != k.leads || some != k.leads || !k.leads && len(list) < 3 {
			t.Errorf("%s: %d incidents, %s %q %q", k.name, len(list), i.What, got, i.FitsWith)
		}
	}
}
