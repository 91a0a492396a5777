package incident

import (
	"testing"

	"ibwitness/agent"
	"ibwitness/qp"
)

// TestLossEnds: a loss lasts until the answer and the last packet, but not where a clock of the capture was set, and not until what is told as unanswered.
func TestLossEnds(t *testing.T) {
	k := &qp.Trouble{Sum: qp.Stalls{Last: 10, Ended: 20}, Storming: &qp.Storming{Newest: 30}}
	for _, s := range []struct {
		steps   uint64
		stalled bool
		want    int64
	}{{0, false, 30}, {0, true, 20}, {1, false, 10}} {
		r := &agent.Result{}
		r.Clock.Count = s.steps
		if got := newTeller(r).lossEnds(&agent.End{Stalled: s.stalled}, k); got != s.want {
			t.Errorf("%+v: %d", s, got)
		}
	}
}
