package incident

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/timing"
)

// TestLostTogether: what few hosts lost on the way to one, which all connections have in common, is told as one, and fits a full queue first
// where several lost packets at the same time, and several in a row; a cable fits as well where each lost packets at other times, or one at a time.
func TestLostTogether(t *testing.T) {
	const ms = int64(time.Millisecond)
	for name, k := range map[string]struct {
		apart int64 // of what two hosts lost
		psns  uint32
		want  bool
	}{
		"at the same time":            {5000, 40, true},
		"one packet at a time":        {5000, 16, false},
		"each at a time of their own": {3 * ms, 40, false},
	} {
		r := &agent.Result{First: 1, Last: int64(time.Second), RDMA: 1}
		for n := range 2 {
			s := lossScene{from: byte(n + 1), to: 9, before: 8, packets: 1000}
			c := s.connection(n)
			c.Timing = &timing.Connection{}
			c.Ends[0].Trouble.Missing.Filled = qp.Filled{PSNs: k.psns, Gaps: 16, Longest: 1 + k.psns/20}
			r.Connections = append(r.Connections, c)
		}
		for n := range 16 {
			r.Findings = append(r.Findings, rule.Finding{
				Rule: rule.EvSeqNAK, Class: rule.Event, Time: int64(n/2+1)*50*ms + int64(n%2)*k.apart,
				Accused: rule.Endpoint{Addr: packet.IPv4Addr([]byte{10, 0, 0, 9})}, Peer: rule.Endpoint{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(n%2 + 1)})},
			})
		}
		list := Of(r)
		const what = "Packets to 10.0.0.9 were lost before the tap, at least 16 times on 2 connections with 2 hosts, and none from it."
		if len(list) != 1 || list[0].What != what {
			t.Fatalf("%s: %+v", name, list)
		}
		const told = "together: 8 times packets of several of these hosts were lost within 50µs (16 of 16 PSN sequence NAKs are for such), " +
			"and several in a row: so a full queue loses packets"
		if got := strings.Contains(toldOf(list, list[0].Kind), told); got != k.want || strings.HasPrefix(list[0].FitsWith[0], "incast: ") != k.want {
			t.Errorf("%s: %s", name, toldOf(list, list[0].Kind))
		}
	}
}
