package incident

import (
	"testing"

	"ibwitness/qp"
)

// TestOneLostEach: what share of one lost for each round would be is told of losses of one packet each; not where the same was lost again and
// again, or where packets only came late.
func TestOneLostEach(t *testing.T) {
	for _, k := range []struct {
		name   string
		rounds uint32 // of one stall
		late   uint32 // packets
		want   bool
	}{{"one each", 1, 0, true}, {"hardly one again", 2, 0, true}, {"again and again", 6, 0, false}, {"came late", 1, 9, false}} {
		x := &qp.Trouble{Overtaking: &qp.Overtaking{Sum: qp.Overtaken{Packets: k.late}}}
		x.Longest[0].Rounds[qp.SequenceAsked] = k.rounds
		if got := oneLostEach(x, 34); got != k.want {
			t.Errorf("%s: %v", k.name, got)
		}
	}
}
