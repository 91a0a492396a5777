package incident

import (
	"testing"

	"ibwitness/timing"
	"ibwitness/wqe"
)

// TestReadsAnsweredMeanwhile: a READ that came in a stall and was answered only after it, or long after it came, is none that an adapter answered meanwhile.
func TestReadsAnsweredMeanwhile(t *testing.T) {
	const since, until = 1000, 2000
	for name, tt := range map[string]struct {
		end      int64
		answered uint64
	}{
		"at once":          {1510, 4},
		"after the stall":  {2050, 3},
		"when it was over": {1990, 3},
		"never":            {0, 3},
	} {
		x := timing.End{Asks: []timing.Sent{{Begin: 900, End: 910}, {Begin: 1100, End: 1110}, {Begin: 1300, End: 1310}, {Begin: 1500, End: tt.end}, {Begin: 1990, End: 2010}, {Begin: 2100, End: 2110}}}
		x.Ops[wqe.Read] = &timing.Operation{}
		var r readsMeanwhile
		if !r.add(&x, since, until) || r.asked != 4 || r.answered != tt.answered {
			t.Errorf("%s: of %d READs %d were answered, want 4 and %d", name, r.asked, r.answered, tt.answered)
		}
	}
}
