package incident

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/timing"
)

// TestSharedLink: senders that slow down far each while all together send as much as one of them did before fill a link: that is told, and no threshold. Where all together send far less than before,
// the threshold fits; where they send less but not far less, neither is told. That of a queue pair whose rate before is known is told as that of no other.
func TestSharedLink(t *testing.T) {
	const ms = int64(time.Millisecond)
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	for _, k := range []struct {
		name  string
		share [3]uint64 // bytes of each in a slot of 1ms while packets are marked
		want  []string
	}{
		{"incast", [3]uint64{900_000, 1_000_000, 1_100_000}, []string{
			"What: Marked; 3 hosts share one link, which they fill.",
			"rate: in all 24 Gbit/s of payload went to 10.0.0.9 meanwhile (median of 19 times 1ms), and no more than 24 Gbit/s in any such time of the capture; 10.0.0.1 had sent 24 Gbit/s before, and others hardly anything",
			"shares: fair: 7.2 Gbit/s to 8.8 Gbit/s each of 3 hosts, on average", "Fits: 3 senders to 10.0.0.9 at once, which fill its link or a slower one on the way (incast), as 10.0.0.1 did before by itself",
		}},
		{"unfair", [3]uint64{400_000, 600_000, 2_000_000}, []string{"shares: 3.2 Gbit/s to 16 Gbit/s each of 3 hosts, on average"}},
		{"threshold", [3]uint64{300_000, 300_000, 300_000}, []string{
			"rate: 1 of the 3 queue pairs that CNPs came to (the others sent too little around them to compare) sent 24 Gbit/s until the first CNP to each, ", "Fits: a marking threshold that is too low",
		}},
		{"neither", [3]uint64{700_000, 700_000, 700_000}, []string{"Fits: \n"}},
		{"one of them", [3]uint64{10_000, 10_000, 2_980_000}, []string{"Fits: \n"}},
	} {
		r := &agent.Result{First: 1, Last: 200 * ms, RDMA: 1}
		var list []sender
		for n := range 3 {
			begin := 10 * ms
			if n == 0 {
				begin = 0
			}
			c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: begin + 1, Timing: &timing.Connection{}}
			x := &c.Timing.Ends[0].Series
			x.Start, x.Width = begin, ms
			for at := begin; at < 30*ms; at += ms {
				bytes := k.share[n]
				if at < 10*ms {
					bytes = 3_000_000
				}
				x.Slots = append(x.Slots, timing.Slot{Bytes: bytes})
				c.Ends[0].Bytes += bytes
			}
			before := uint64(10-begin/ms) * 3_000_000
			c.Ends[0] = agent.End{Addr: host(byte(n + 1)), QPN: 16, QPNKnown: true, Packets: 100, Bytes: c.Ends[0].Bytes, Last: 30 * ms}
			c.Ends[0].Trouble = &qp.Trouble{Notified: &qp.Notified{Count: 20, First: 10 * ms, Last: 30 * ms, Bytes: before, Until: before + 20*min(k.share[n], 700_000)}}
			c.Ends[1] = agent.End{Addr: host(9), QPN: 17, QPNKnown: true, Packets: 100, Last: 30 * ms}
			r.Connections = append(r.Connections, c)
			list = append([]sender{{onWay: &onWay{way: way{host(byte(n + 1)), host(9)}}, rate: float64(k.share[n]) * 1000}}, list...)
		}
		i := &Incident{What: "Marked.", Peer: Party{Addr: host(9)}, Begin: 10*ms + 1, End: 30 * ms}
		newTeller(r).ratesOfAll(i, list, true, nil)
		got := fmt.Sprintf("What: %s\nFits: %s\n", i.What, strings.Join(i.FitsWith, "; "))
		for _, f := range i.Facts {
			got += f.Label + ": " + f.Text + "\n"
		}
		for _, want := range k.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: told %s\nwant %s", k.name, got, want)
			}
		}
		if full := k.name == "incast" || k.name == "unfair"; strings.Contains(got, "which they fill") != full || strings.Contains(got, "threshold") != (k.name == "threshold") || i.sharedFairly != (k.name == "incast") {
			t.Errorf("%s: told %s", k.name, got)
		}
	}
}
