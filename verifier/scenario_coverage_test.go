package verifier_test

import (
	"path/filepath"
	"testing"

	"github.com/cockroachdb/datadriven"

	"ibwitness/coverage"
	"ibwitness/rule"
)

// TestEveryItemIsShown: a scenario shows each item of coverage. Those of testdata/coverage are there for what no other shows.
func TestEveryItemIsShown(t *testing.T) {
	more, err := filepath.Glob("testdata/coverage/*.txt")
	if err != nil || len(more) == 0 {
		t.Fatalf("no scenario files in testdata/coverage: %v", err)
	}
	var shown coverage.Counts
	var rules [rule.NumRules]rule.Count
	for _, path := range append(scenarioFiles(t), more...) {
		datadriven.RunTest(t, path, func(_ *testing.T, d *datadriven.TestData) string {
			opt, err := parseOptions(d)
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			s := newScenario(opt, opt.encaps[0])
			if err := s.run(d.Input); err != nil {
				d.Fatalf(t, "%v", err)
			}
			shown.Add(s.agent.Shown)
			for id, c := range s.agent.Rec.Cover {
				rules[id].Exercised += c.Exercised
			}
			return d.Expected
		})
	}
	for _, i := range coverage.Items() {
		if i.Count(&shown, &rules).Exercised == 0 {
			t.Errorf("%s: %s in the scenarios: write one that shows it", i.Name, i.Hole())
		}
	}
}

// TestCoverageScenarios runs the scenarios of testdata/coverage, as TestScenarios does the others.
func TestCoverageScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata/coverage", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return directive(t, t, d, map[rule.ID]bool{}) })
	})
}
