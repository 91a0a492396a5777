package link_test

import (
	"flag"
	"testing"

	"ibwitness/internal/testkit/sample"
	"ibwitness/rule"
)

var (
	runs  = flag.Uint64("link.runs", 100, "random links")
	first = flag.Uint64("link.seed", 1, "the first seed")
)

// TestInnocent has correct ports talk on links of all kinds, with bit errors in packets of all kinds, and taps anywhere: nobody is accused.
func TestInnocent(t *testing.T) {
	var cover [rule.NumRules]rule.Count
	passed := 0
	for seed := *first; seed < *first+*runs; seed += uint64(sample.Stride(8)) {
		out := random(seed).play(t)
		for i := range out.Findings {
			if f := &out.Findings[i]; f.Class == rule.Violation {
				tell(t, "innocent", seed, f)
			}
		}
		for i, c := range out.Cover {
			cover[i].Exercised += c.Exercised
		}
		passed += out.passed[0] + out.passed[1]
	}
	for _, id := range []rule.ID{
		rule.LNKFCP001, rule.LNKFCP002, rule.LNKFCP003, rule.LNKFCP004, rule.LNKFCP005, rule.LNKFCP006, rule.LNKFCP007, rule.LNKFCP008, rule.LNKFCP009, rule.LNKFCP010,
		rule.LNKFCP011, rule.LNKFCP012, rule.LNKVL006, rule.LNKST002, rule.LNKST005, rule.LNKST006, rule.LNKLRH001, rule.LNKLRH008,
	} {
		if cover[id].Exercised == 0 {
			t.Errorf("%v was not exercised", id)
		}
	}
	t.Logf("%d packets arrived", passed)
}
