package incident

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/qp"
)

// TestLateByPlace: where what filled the gaps of requesters had come late by its place, one incident says so of all that one host received, and names who sends in order; not where it was retransmitted, where
// much was not filled, timers ran out, or hardly anything that had come was retransmitted.
func TestLateByPlace(t *testing.T) {
	for _, k := range []struct {
		name                  string
		missing, filled, late uint32
		timers                uint32
		copies                uint64
		want                  bool
	}{
		{"late", 100, 100, 99, 0, 600, true},
		{"retransmitted", 100, 100, 20, 0, 600, false},
		{"not filled", 300, 100, 99, 0, 600, false},
		{"timers", 100, 100, 99, 30, 600, false},
		{"selective repeat", 100, 100, 99, 0, 40, false},
	} {
		r := &agent.Result{First: 1, Last: int64(time.Second), RDMA: 1}
		for n := range 2 {
			s := lossScene{from: byte(n + 1), to: 9, before: 60, packets: 3000}
			c := s.connection(n)
			x := c.Ends[0].Trouble
			x.Missing.PSNs, x.Missing.Filled = k.missing, qp.Filled{PSNs: k.filled, Packets: k.filled, Gaps: 50, Longest: 3, Late: k.late}
			x.Again.Packets, x.Sum.Rounds[qp.TimerExpired] = k.copies+uint64(k.filled), k.timers
			c.Ends[1].SequenceNAKs = 60
			r.Connections = append(r.Connections, c)
		}
		clean := lossScene{from: 4, to: 9, packets: 9000}
		r.Connections = append(r.Connections, clean.connection(3))
		list := Of(r)
		const told = "At least 198 packets that 10.0.0.1 and 10.0.0.2 sent to 10.0.0.9 on 2 connections came after later ones, and nothing was lost before the tap: 10.0.0.9 took them for lost, sent 120 PSN sequence NAKs"
		if got := len(list) == 1 && list[0].Kind == Reordered && strings.HasPrefix(list[0].What, told) && list[0].says("in order"); got != k.want || strings.Contains(list[0].What, "came after later ones, and") != k.want {
			t.Errorf("%s: %+v", k.name, list)
		}
	}
}
