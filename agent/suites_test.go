package agent_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cockroachdb/datadriven"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/rule"
)

// TestSuites holds the verdict on test suites of verbs over soft-RoCE, without and with the endpoint that the tap is near: an application's own ACK
// timeout, frames that were damaged before the tap, and a clock that stamps one direction in 1970.
func TestSuites(t *testing.T) {
	datadriven.RunTest(t, "testdata/suites.txt", func(t *testing.T, d *datadriven.TestData) string {
		var opt agent.Options
		var near string
		if d.MaybeScanArgs(t, "near", &near) {
			a, err := packet.ParseAddr(near)
			if err != nil {
				t.Fatal(err)
			}
			opt.Near = []packet.Addr{a}
		}
		r := judged(t, d.CmdArgs[:1], opt)
		watched(t, d.CmdArgs[:1], opt, r)
		if !d.HasArg("unproven") {
			r.Findings = slices.DeleteFunc(r.Findings, func(f rule.Finding) bool { return f.Class == rule.Unproven })
		}
		if k := r.Clock; k.Count > 0 {
			return fmt.Sprintf("the clock goes back %d times, first at frame %d\n", k.Count, k.Frame) + folded(r)
		}
		return folded(r)
	})
}

// watched verifies the capture once more as live traffic: who is accused then is accused in the whole capture too.
func watched(t *testing.T, captures []datadriven.CmdArg, opt agent.Options, whole *agent.Result) {
	opt.Watch = &agent.Watch{
		Found: func(list []rule.Finding) {
			for _, f := range list {
				if f.Class == rule.Violation && !slices.ContainsFunc(whole.Findings, func(x rule.Finding) bool {
					return x.Rule == f.Rule && x.Frame == f.Frame && x.Class == rule.Violation
				}) {
					t.Errorf("only watch says %v of frame %d: expected %s, actual %s", f.Rule, f.Frame, f.Expected, f.Actual)
				}
			}
		},
		Status: func(*agent.Status) {},
	}
	judged(t, captures, opt)
}
