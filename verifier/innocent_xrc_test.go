package verifier_test

import (
	"strings"
	"testing"

	"ibwitness/internal/testkit/sample"
	"ibwitness/rule"
)

// TestInnocentXRC is TestInnocent of connections of XRC, which differ from those of RC in their XRCETH.
func TestInnocentXRC(t *testing.T) {
	for _, setting := range innocentSettings {
		t.Run(setting.String(), func(t *testing.T) {
			count := map[rule.ID]int{}
			example := map[rule.ID]*innocent{}
			for n := range sample.Part((*simRuns+3)/4, 10) {
				run := newInnocentXRC(t, setting, *simSeed+uint64(n))
				for id := range run.accused(t, run.lines) {
					count[id]++
					example[id] = run
				}
			}
			for id, run := range example {
				t.Errorf("%v accuses in %d connections; seed %d on %s:\n%s", id, count[id], run.seed, run.encap, strings.Join(run.lines, "\n"))
			}
		})
	}
}

// newInnocentXRC simulates a connection of XRC.
func newInnocentXRC(t *testing.T, setting innocentSetting, seed uint64) *innocent {
	run := newInnocent(t, setting, seed)
	for i, l := range run.lines {
		run.lines[i] = asXRC(l)
	}
	return run
}

// asXRC is a line of a scenario with the operation of XRC in place of that of RC.
func asXRC(line string) string {
	words := strings.Fields(line)
	switch op := words[2]; {
	case op == "CM_REQ" || op == "CM_REP":
		words[2] = "CM_XRC_" + strings.TrimPrefix(op, "CM_")
	case op == "CM_RTU":
	default:
		words[2] = "XRC_" + op
	}
	return strings.Join(words, " ")
}
