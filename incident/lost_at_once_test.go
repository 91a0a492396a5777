package incident

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/rule"
)

// TestLostAtOnce: what several hosts lose after the tap at the same times, each on the way to another host, is one incident of one link or queue
// that they share: not where they lose it at other times, before the tap, or where they are three.
func TestLostAtOnce(t *testing.T) {
	const ms = int64(time.Millisecond)
	const told = "10.0.0.14 and 1 more were lost after the tap, or overtaken there, at least 15 times on 5 connections; 15 of 4,500 packets (0.33 %) are copies."
	const fits = "one full queue or link after the tap that all of this takes"
	for _, k := range []struct {
		name   string
		hosts  int
		apart  int64 // between the losses of hosts
		before bool
		want   bool
	}{
		{"at once", 5, 1000, false, true}, {"at other times", 5, 20 * ms, false, false}, {"before the tap", 5, 1000, true, false}, {"three", 3, 1000, false, false},
	} {
		r := &agent.Result{First: 1, Last: int64(time.Second), RDMA: 1}
		addr := func(n int) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, byte(n)}) }
		for h := range k.hosts {
			s := lossScene{from: byte(h + 1), to: byte(h + 11), packets: 900, after: 3}
			if k.before {
				s.after, s.before = 0, 3
			}
			r.Connections = append(r.Connections, s.connection(h))
			for b := range int64(3) {
				r.Findings = append(r.Findings, rule.Finding{
					Rule: rule.EvSeqNAK, Class: rule.Event, Time: (b+1)*200*ms + int64(h)*k.apart,
					Accused: rule.Endpoint{Addr: addr(h + 11)}, Peer: rule.Endpoint{Addr: addr(h + 1)},
				})
			}
		}
		slices.SortStableFunc(r.Findings, func(a, b rule.Finding) int { return int(a.Time - b.Time) })
		list := Of(r)
		got := strings.Contains(list[0].What, told) && strings.HasPrefix(list[0].FitsWith[0], fits) && len(list) == 1
		if said := slices.ContainsFunc(list, func(i Incident) bool { return strings.HasPrefix(i.FitsWith[0], fits) }); got != k.want || said != k.want {
			t.Errorf("%s: %+v", k.name, list)
		}
	}
}
