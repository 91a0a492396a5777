package incident

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/timing"
)

// TestLostTogetherAfter: what few hosts lost on the way to one after the tap fits a full queue first where several lost packets at the same time far
// more often than by chance. Where each lost packets at other times, or where the hosts sent at the times of the losses only, a cable fits as well.
func TestLostTogetherAfter(t *testing.T) {
	const us, ms, n = int64(time.Microsecond), int64(time.Millisecond), 12
	for name, k := range map[string]struct {
		apart int64 // of what two hosts lost
		pairs int64 // of which that is so; of the others they are apart
		idle  bool  // but at the times of the losses
		more  bool  // a third host lost packets of which it is not known when they were sent
		want  bool
	}{
		"at the same time":              {5 * us, n, false, false, true},
		"beside one that is not known":  {5 * us, n, true, true, false},
		"at the same time, but seldom":  {5 * us, 7, false, false, false},
		"each at a time of their own":   {3 * ms, n, false, false, false},
		"when much was sent, as chance": {5 * us, n, true, false, false},
	} {
		r := &agent.Result{First: 1, Last: int64(time.Second), RDMA: 1}
		hosts := 2
		if k.more {
			hosts++
		}
		for h := range hosts {
			s := lossScene{from: byte(h + 1), to: 9, after: n, packets: 1000}
			c := s.connection(h)
			c.Timing = &timing.Connection{}
			for m := range int64(200) {
				if at := (m + 1) * 4 * ms; h < 2 && (!k.idle || at%(60*ms) == 0) {
					c.Timing.Ends[0].Sent = append(c.Timing.Ends[0].Sent, timing.Sent{Begin: at, End: at + 10*us})
				}
			}
			r.Connections = append(r.Connections, c)
		}
		for x := range int64(2 * n) {
			apart := k.apart
			if x/2 >= k.pairs {
				apart = 3 * ms
			}
			r.Findings = append(r.Findings, rule.Finding{
				Rule: rule.EvSeqNAK, Class: rule.Event, Time: (x/2+1)*60*ms + 10*us + x%2*apart,
				Accused: rule.Endpoint{Addr: packet.IPv4Addr([]byte{10, 0, 0, 9})}, Peer: rule.Endpoint{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(x%2 + 1)})},
			})
		}
		list := Of(r)
		what := fmt.Sprintf("Packets to 10.0.0.9 were lost after the tap, or overtaken there, at least %d times on %d connections with %d hosts, and none from it.", hosts*n, hosts, hosts)
		if len(list) != 1 || list[0].What != what {
			t.Fatalf("%s: %+v", name, list)
		}
		const told = "together: 12 times packets of several of these hosts were lost within 50µs (24 of 24 PSN sequence NAKs are for such; by chance about 2 would be)"
		if got := strings.Contains(toldOf(list, list[0].Kind), told); got != k.want || strings.HasPrefix(list[0].FitsWith[0], "incast: ") != k.want {
			t.Errorf("%s: %s", name, toldOf(list, list[0].Kind))
		}
	}
}
