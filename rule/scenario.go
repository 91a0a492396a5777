package rule

import (
	_ "embed" // the table
	"strings"
	"sync"
)

// scenarioTable has a line for each rule that is judged, and each event that is shown: its id, and the file of verifier/testdata with most scenarios of it.
// It is written by go test ./verifier -run TestEveryRuleHasScenarios -rewrite, and compared with the files by that test.
//
//go:embed scenarios.txt
var scenarioTable string

var scenarios = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(scenarioTable) {
		id, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		m[id] = file
	}
	return m
})

// Scenario is the file of verifier/testdata with a scenario in which the rule fires, or that shows the event; "" where the rule is not judged.
func (r *Row) Scenario() string { return scenarios()[r.ID] }
