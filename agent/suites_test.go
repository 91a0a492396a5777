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
		if !d.HasArg("unproven") {
			r.Findings = slices.DeleteFunc(r.Findings, func(f rule.Finding) bool { return f.Class == rule.Unproven })
		}
		if k := r.Clock; k.Count > 0 {
			return fmt.Sprintf("the clock goes back %d times, first at frame %d\n", k.Count, k.Frame) + folded(r)
		}
		return folded(r)
	})
}
