package incident

import (
	"slices"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/rule"
)

// TestAskedBefore: PSN sequence NAKs count that came before the first round of their connection that is counted, as the capture did not yet show
// which connection they belong to, and losses began with them; not one for which that round began, nor more than have no round.
func TestAskedBefore(t *testing.T) {
	const ms = int64(time.Millisecond)
	for _, k := range []struct {
		name   string
		before []int64 // when NAKs came, before the first round
		naks   uint32  // without a round
		caused string
		begin  int64
	}{
		{"long before", []int64{30 * ms}, 1, "25 times by PSN sequence NAKs", 20 * ms},
		{"twice", []int64{40 * ms, 30 * ms}, 2, "26 times by PSN sequence NAKs", 10 * ms},
		{"just before", []int64{9 * ms}, 1, "24 times by PSN sequence NAKs", 50 * ms},
		{"each has a round", []int64{30 * ms}, 0, "24 times by PSN sequence NAKs", 50 * ms},
	} {
		r := &agent.Result{First: 1, Last: int64(time.Second), RDMA: 1, Taps: make([]fabricagent.Tap, 1)}
		for n, s := range []lossScene{{1, 2, 12, 0, 0, 900, nil}, {3, 2, 12, 0, 0, 900, nil}, {8, 9, 0, 0, 0, 9000, nil}} {
			c := s.connection(n)
			if c.Ends[0].Trouble != nil {
				c.Ends[0].Trouble.Sum.Begun, c.Ends[1].SequenceNAKs = 50*ms, s.after
			}
			r.Connections = append(r.Connections, c)
		}
		asked := &r.Connections[0]
		asked.Ends[1].SequenceNAKs += k.naks
		end := func(n int) rule.Endpoint {
			e := &asked.Ends[n]
			return rule.Endpoint{Addr: e.Addr, QPN: e.QPN, QPNKnown: true}
		}
		for n, before := range k.before {
			f := rule.Finding{Rule: rule.EvSeqNAK, Class: rule.Event, Time: 50*ms - before, Frame: uint64(3 + n), Accused: end(1), Peer: end(0)}
			r.Findings = append(r.Findings, f)
		}
		list := Of(r)
		said := slices.ContainsFunc(list[0].Facts, func(f Fact) bool { return f.Label == "caused" && f.Text == k.caused })
		if len(list) != 1 || !said || list[0].Begin != k.begin {
			t.Errorf("%s: %+v", k.name, list)
		}
	}
}
