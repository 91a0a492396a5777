package incident

import (
	"testing"

	"ibwitness/agent"
	"ibwitness/rule"
)

// TestFirstFrame: a connection that CM connected begins with a REP where its first frame is that; not where it is another.
func TestFirstFrame(t *testing.T) {
	f := rule.Finding{Rule: rule.EvConnect, Class: rule.Event, Frame: 9}
	r := &agent.Result{Findings: []rule.Finding{f}}
	for _, k := range []struct {
		frame uint64
		by    agent.PairedBy
		want  string
	}{{9, agent.ByCM, "9 (REP)"}, {8, agent.ByCM, "8"}, {9, agent.ByPSN, "9"}} {
		c := agent.Connection{FirstFrame: k.frame, PairedBy: k.by}
		if got := newTeller(r).firstFrame(&c); got != k.want {
			t.Errorf("%d: %s, not %s", k.frame, got, k.want)
		}
	}
}
