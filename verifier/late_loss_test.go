package verifier_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"ibwitness/rule"
)

// onMissing matches rules that judge by what is missing. Those of links and headers are judged by less where a capture is known to be lossy from its beginning; what they
// have found in packets that are there stays true.
var onMissing = regexp.MustCompile(`(?m)^(RC|UC|UD|RD|XRC|CPL|QPS|MAD|CM)-`)

// TestLateLoss: what a capture says only at its end, that it has lost packets, leaves no violation proven that is none where it says so at the beginning.
func TestLateLoss(t *testing.T) {
	all := t
	for _, path := range scenarioFiles(t) {
		t.Run(path[strings.LastIndexByte(path, '/')+1:], func(t *testing.T) {
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				opt, err := parseOptions(d)
				if err != nil {
					d.Fatalf(t, "%v", err)
				}
				if opt.lossy || !strings.Contains(d.Expected, " violation ") || !onMissing.MatchString(d.Expected) {
					return d.Expected
				}
				proven := func(lossy bool, input string) map[string]bool {
					o := *opt
					o.lossy = lossy
					s := newScenario(&o, o.encaps[0])
					if err := s.run(input); err != nil {
						d.Fatalf(t, "%v", err)
					}
					list := map[string]bool{}
					for _, f := range s.agent.Rec.Findings {
						if f.Class == rule.Violation && onMissing.MatchString(f.Rule.String()) {
							list[fmt.Sprint(f.Rule, f.Frame, f.Line, f.Accused)] = true
						}
					}
					return list
				}
				early := proven(true, d.Input)
				for f := range proven(false, d.Input+"\n+0us dropped") {
					if !early[f] {
						all.Errorf("%s: %s is proven, although the capture says at its end that it has lost packets", d.Pos, f)
					}
				}
				return d.Expected
			})
		})
	}
}
