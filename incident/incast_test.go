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

// TestIncast: it is told that packets are lost when many hosts send to one at once, where those of several hosts were lost at the same time, or none of what fewer sent at once.
func TestIncast(t *testing.T) {
	const us, ms = int64(time.Microsecond), int64(time.Millisecond)
	const together, once = "6 hosts sent to 10.0.0.9 at once, 8 times, and each time NAKs asked for 5 lost packets; all 40 had passed the tap, and were lost after it", "6 hosts sent to 10.0.0.9 at once, 8 times, and each time NAKs asked for 1 lost packet;"
	const before = "8 bursts in which NAKs asked for what up to 5 hosts had sent at once, of each host about as often; they last 24µs in all, and 40 of 40 PSN sequence NAKs came in them"
	late := []int64{61, 60, 62, 63, 61}  // when NAKs came after the beginning of a burst, by host
	spread := []int64{4, 60, 20, 75, 40} // likewise
	for _, k := range []struct {
		name   string
		hosts  int   // that send in each burst
		apart  int64 // of their first packets
		naks   []int64
		alone  int // messages of one host between two bursts
		nakked int // of them
		before uint32
		less   uint32 // rounds of each host that were counted than NAKs
		want   string
	}{
		{"lost at the same time", 6, 2 * us, late, 0, 0, 0, 0, together},
		{"lost here and there", 6, 2 * us, spread, 0, 0, 0, 0, ""},
		{"lost here and there, and nothing of as much that few sent", 6, 2 * us, spread, 6, 0, 0, 0, together + "; of 48 messages that fewer sent at once, nothing was"},
		{"one each time, and nothing of what few sent", 6, 2 * us, late[:1], 40, 0, 0, 0, once},
		{"one each time", 6, 2 * us, late[:1], 0, 0, 0, 0, ""},
		{"lost when one sends, too", 6, 2 * us, late, 2, 1, 0, 0, ""},
		{"three hosts", 3, 2 * us, late[:3], 0, 0, 0, 0, ""},
		{"one after the other", 6, 200 * us, late, 0, 0, 0, 0, ""},
		{"before the tap", 6, 2 * us, late, 0, 0, 8, 0, before},
		{"before the tap, and fewer rounds were counted", 6, 2 * us, late, 0, 0, 8, 1, before},
		{"before the tap, here and there", 6, 2 * us, []int64{4, 3060, 9020, 6075, 12040}, 0, 0, 8, 0, ""},
		{"before the tap, of three hosts", 6, 2 * us, late[:3], 0, 0, 8, 0, ""},
		{"on both sides", 6, 2 * us, late, 0, 0, 4, 0, ""},
	} {
		r := &agent.Result{First: 1, Last: int64(time.Second), RDMA: 1}
		addr := func(n int) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, byte(n)}) }
		for h := range k.hosts {
			c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1, Timing: &timing.Connection{}}
			c.Ends[0] = agent.End{Addr: addr(h + 1), QPN: uint32(16 + h), QPNKnown: true, Packets: 1000, Messages: 1000, Last: int64(time.Second)}
			c.Ends[1] = agent.End{Addr: addr(9), QPN: uint32(16 + h), QPNKnown: true, Packets: 1000, Last: int64(time.Second)}
			asked := 0
			for b := range 8 {
				begin := int64(b+1) * 20 * ms
				sent := timing.Sent{Begin: begin + int64(h)*k.apart, End: begin + int64(h)*k.apart + 5*us}
				c.Timing.Ends[0].Sent = append(c.Timing.Ends[0].Sent, sent)
				if h < len(k.naks) {
					asked++
					r.Findings = append(r.Findings, rule.Finding{Rule: rule.EvSeqNAK, Class: rule.Event, Time: begin + k.naks[h]*us, Accused: rule.Endpoint{Addr: addr(9)}, Peer: rule.Endpoint{Addr: addr(h + 1)}})
				}
				if h > 0 {
					continue
				}
				for n := range k.alone {
					at := begin + int64(n+2)*100*us + int64(b)
					c.Timing.Ends[0].Sent = append(c.Timing.Ends[0].Sent, timing.Sent{Begin: at, End: at + us})
					if n < k.nakked {
						r.Findings = append(r.Findings, rule.Finding{Rule: rule.EvSeqNAK, Class: rule.Event, Time: at + 2*us, Accused: rule.Endpoint{Addr: addr(9)}, Peer: rule.Endpoint{Addr: addr(1)}})
					}
				}
			}
			if asked > 0 {
				x := &qp.Trouble{Sum: qp.Stalls{Count: 8, Rounds: [qp.NumCauses]uint32{qp.SequenceAsked: uint32(asked) - k.less}, Begun: 20 * ms, Last: 160 * ms}}
				x.Asked.After, x.Asked.Before = uint32(asked)-k.before, k.before-k.less
				c.Ends[0].Trouble = x
			}
			r.Connections = append(r.Connections, c)
		}
		slices.SortFunc(r.Findings, func(a, b rule.Finding) int { return int(a.Time - b.Time) })
		list := Of(r)
		got := ""
		for n, i := range list {
			for _, f := range i.Facts {
				if f.Label == "incast" {
					if n > 0 || got != "" {
						t.Errorf("%s: it is told twice", k.name)
					}
					got = f.Text
				}
			}
			if fits := strings.HasPrefix(i.FitsWith[0], "incast: a queue "); i.Kind == Loss && fits != (k.want != "") || fits && len(i.FitsWith) > fewestAtOnce || fits && k.want != before && (slices.Contains(i.FitsWith, queueDrops) || !strings.HasPrefix(i.Next[0], "priority flow control (PFC) and ECN of the switch port to 10.0.0.9")) {
				t.Errorf("%s: %+v", k.name, i)
			}
		}
		if !strings.HasPrefix(got, k.want) || k.want == "" && got != "" {
			t.Errorf("%s: %q", k.name, got)
		}
	}
}

// TestIncastFew: two or three bursts in which packets of four hosts or more were lost at once, before the tap or after it, are incast, told once for all of them, with the largest; where one more was lost at another time, or
// bursts are of three hosts, it is not.
func TestIncastFew(t *testing.T) {
	const us, ms = int64(time.Microsecond), int64(time.Millisecond)
	addr := func(n int) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, byte(n)}) }
	const largest = "NAKs asked for 5 lost packets of 5 hosts within 8µs, from +100ms of the capture on"
	for _, k := range []struct {
		name          string
		bursts, hosts int // that lose packets in each
		loose         int // more NAKs, elsewhere
		passed        bool
		want          bool
	}{
		{"two", 2, 5, 0, false, true},
		{"three", 3, 5, 0, false, true},
		{"one", 1, 5, 0, false, false},
		{"of three hosts", 2, 3, 0, false, false},
		{"and one more", 2, 5, 1, false, false},
		{"two after the tap", 2, 5, 0, true, true},
		{"three after the tap", 3, 5, 0, true, true},
		{"after the tap, of three hosts", 3, 3, 0, true, false},
	} {
		r := &agent.Result{First: 1, Last: int64(time.Second), RDMA: 1}
		for h := range 6 {
			c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1, Timing: &timing.Connection{}}
			c.Ends[0] = agent.End{Addr: addr(h + 1), QPN: uint32(16 + h), QPNKnown: true, Packets: 1000, Messages: 100, Last: int64(time.Second)}
			c.Ends[1] = agent.End{Addr: addr(9), QPN: uint32(16 + h), QPNKnown: true, Packets: 1000, Last: int64(time.Second)}
			asked := uint32(0)
			nak := func(at int64) {
				asked++
				r.Findings = append(r.Findings, rule.Finding{Rule: rule.EvSeqNAK, Class: rule.Event, Time: at, Accused: rule.Endpoint{Addr: addr(9)}, Peer: rule.Endpoint{Addr: addr(h + 1)}})
			}
			for b := range 9 {
				begin := int64(b+1) * 50 * ms
				c.Timing.Ends[0].Sent = append(c.Timing.Ends[0].Sent, timing.Sent{Begin: begin - 100*us, End: begin - 10*us})
				if h < k.hosts && b%2 == 1 && b/2 < k.bursts {
					nak(begin + int64(h)*2*us)
				}
			}
			if h < k.loose {
				nak(730 * ms)
			}
			if asked > 0 {
				x := &qp.Trouble{Sum: qp.Stalls{Count: asked, Rounds: [qp.NumCauses]uint32{qp.SequenceAsked: asked}, Begun: 100 * ms, Last: 800 * ms}}
				if x.Asked.Before = asked; k.passed {
					x.Asked.Before, x.Asked.After = 0, asked
				}
				c.Ends[0].Trouble = x
			}
			r.Connections = append(r.Connections, c)
		}
		slices.SortFunc(r.Findings, func(a, b rule.Finding) int { return int(a.Time - b.Time) })
		list := Of(r)
		led := strings.Contains(list[0].What, "with 5 hosts, when many of them sent at once.")
		if led != k.want || led && (len(list) != 1 || !strings.HasPrefix(list[0].FitsWith[0], "incast: a queue ") || !slices.Contains(list[0].Facts, Fact{"largest", largest})) {
			t.Errorf("%s: %+v", k.name, list)
		}
	}
}
