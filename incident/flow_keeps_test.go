package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/incident"
	"ibwitness/rule"
)

// TestFlowKeeps: of two queue pairs of a host, one that keeps its rate though CNPs come to it all the time, beside the other one and those of others
// that yield, is told first, with its DSCP and who is starved, and that CNPs broke a rule in form is not why: not where it yields in some bursts, where few CNPs
// come to it, where few of its packets are marked, where others have no less beside it than without it, or where one other goes on too.
func TestFlowKeeps(t *testing.T) {
	steady := func(int64) int64 { return 280 }
	yields := func(k int64) int64 { return max(40-k, 8) }
	for _, k := range []struct {
		name       string
		kb, others func(int64) int64
		cnps       int
		marked     float64
		same       bool // the other one of its host is of the same DSCP
		want       bool
	}{
		{"keeps its rate", steady, yields, 400, 1, false, true},
		{"of one DSCP", steady, yields, 400, 1, true, true},
		{"falls", func(k int64) int64 { return max(280-10*k, 20) }, yields, 400, 1, false, false},
		{"few CNPs", steady, yields, 90, 1, false, false},
		{"few marks", steady, yields, 400, 0.3, false, false},
		{"others have as much", steady, func(int64) int64 { return 40 }, 400, 1, false, false},
		{"others go on", steady, func(int64) int64 { return 120 }, 400, 1, false, false},
	} {
		s := &burstScene{}
		s.sends(1, 9, k.cnps, inBursts(6, k.kb, 50, k.marked))
		for n := byte(1); n <= 3; n++ {
			s.sends(n, 9, 90, inBursts(6, k.others, 54, 0.5))
		}
		s.r.Connections[1].Ends[0].QPN++
		for n := range s.r.Connections {
			s.r.Connections[n].Ends[0].Path = agent.Path{Known: true, DSCP: 26}
		}
		if !k.same {
			s.r.Connections[0].Ends[0].Path.DSCP = 34
		}
		s.r.Cover[rule.EvCNP].Exercised, s.r.Cover[rule.CNGCNP003].Violated = 500, 500
		cnp := s.r.Findings[len(s.r.Findings)-1]
		s.r.Findings = append(s.r.Findings, rule.Finding{Rule: rule.CNGCNP003, Class: rule.Violation, Time: cnp.Time, Frame: 77, Accused: cnp.Accused, Actual: "SE false, M true, PSN 0x000000"})
		got := s.told()
		if strings.Contains(got, "does not slow down though") != k.want || strings.Contains(got, "an adapter may drop them") == k.want {
			t.Errorf("%s: %s", k.name, got)
		}
		head := ""
		if list := incident.Of(&s.r); len(list) > 0 {
			head = list[0].Headline
		}
		if (head == "10.0.0.1 QP 0x10 does not slow down at CNPs") != k.want {
			t.Errorf("%s: headline %q", k.name, head)
		}
		if !k.want {
			continue
		}
		of, fits := "34", "is off for the priority that DSCP 34 has there, or set otherwise: CNPs reach the host, as QP 0x11 (DSCP 26) slows down"
		if k.same {
			of, fits = "26", "is off for this queue pair, or set otherwise: CNPs reach the host, as QP 0x11 (DSCP 26) slows down"
		}
		contains(t, k.name, got, []string{
			"10.0.0.1 QP 0x10 (DSCP " + of + ") does not slow down though 400 CNPs came to it: from +0.000 s on, in 6 bursts, it goes on at 8.96 Gbit/s, ",
			"; QP 0x11 (DSCP 26) of the same host and 2 others slow down to ", "none of 10.0.0.1 QP 0x10 (DSCP " + of + ") to QP 0x1 that its rate shows, ",
			"starved: beside it: 10.0.0.1 QP 0x11 (DSCP 26) ", fits,
			"next: whether congestion control is on at 10.0.0.1 for the priority that DSCP " + of + " has there (RoCE reaction point: ecn/roce_rp/enable/<prio>)",
			"that has not kept queue pairs from slowing down after them, of 10.0.0.1 too",
		}, []string{"where throughput is enough"})
	}
}
