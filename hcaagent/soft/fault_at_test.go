package soft_test

import (
	"testing"

	"ibwitness/hcaagent/soft"
	"ibwitness/internal/testkit/sample"
	"ibwitness/rule"
)

// TestFaultAt: a device that is to let more occasions pass than there are shows no fault, but one that lies in what it can do at all.
func TestFaultAt(t *testing.T) {
	for i, name := range soft.FaultNames() {
		if i%sample.Stride(4) > 0 {
			continue
		}
		f := soft.Faults[name]
		if f.Needs == soft.Tester {
			continue
		}
		found := ""
		for _, x := range newStageAt(t, name, f, true, 1e6).play(f) {
			if x.Class == rule.Violation && !consumers(f.Needs, &x) {
				found = tell(&x)
				break
			}
		}
		if f.Constant != (found != "") {
			t.Errorf("%s: Constant is %t, and this is found: %s", name, f.Constant, found)
		}
	}
}
