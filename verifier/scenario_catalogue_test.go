package verifier_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ibwitness/internal/testkit/tally"
	"ibwitness/rule"
)

func scenarioFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenario files in testdata: %v", err)
	}
	return files
}

var (
	shown      = regexp.MustCompile(`(?m)^(EV-[A-Z-]+) event `)
	directives = regexp.MustCompile(`(?m)^(fires|unproven|clean) +([^\n]*)$`)
	references = regexp.MustCompile(`\brule\.([A-Z0-9]+)\b`)
)

// TestEveryRuleHasScenarios walks the catalogue: a rule that is judged has a scenario in which it fires, and one in which it is
// exercised and keeps silent; an event has one that shows it. Which file has most of them is in the table of package rule, which -rewrite writes.
func TestEveryRuleHasScenarios(t *testing.T) {
	fires, clean, events := places{}, map[string]bool{}, places{}
	for _, path := range scenarioFiles(t) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range shown.FindAllSubmatch(b, -1) {
			events.add(e[1], path)
		}
		for _, d := range directives.FindAllSubmatch(b, -1) {
			for _, word := range bytes.Fields(d[2]) {
				if string(d[1]) == "clean" {
					clean[string(word)] = true
				} else {
					fires.add(word, path)
				}
			}
		}
	}
	judged := referenced(t)
	var table strings.Builder
	for _, id := range rule.Rules() {
		r := id.Row()
		if r.Where == "" && !judged[strings.ReplaceAll(r.ID, "-", "")] {
			continue
		}
		if fires[r.ID] == nil {
			t.Errorf("%s %s: no scenario in which it fires", r.ID, r.Name)
		}
		fmt.Fprintln(&table, r.ID, fires.most(r.ID))
		if !clean[r.ID] {
			t.Errorf("%s %s: no scenario in which it is exercised and keeps silent", r.ID, r.Name)
		}
	}
	for _, id := range rule.Events() {
		r := id.Row()
		if r.Where == "" {
			continue
		}
		if events[r.ID] == nil {
			t.Errorf("%s %s: no scenario shows it", r.ID, r.Name)
		}
		fmt.Fprintln(&table, r.ID, events.most(r.ID))
	}
	const path = "../rule/scenarios.txt"
	if was, err := os.ReadFile(path); err != nil || string(was) != table.String() {
		if !tally.Rewriting() {
			t.Errorf("%s does not say where the scenarios are: run go test ./verifier -run TestEveryRuleHasScenarios -rewrite, and make docs", path)
		} else if err := os.WriteFile(path, []byte(table.String()), 0o644); err != nil {
			t.Error(err)
		}
	}
}

// places counts scenarios by rule and file.
type places map[string]map[string]int

func (m places) add(id []byte, path string) {
	if m[string(id)] == nil {
		m[string(id)] = map[string]int{}
	}
	m[string(id)][filepath.Base(path)]++
}

// most is the file that has most scenarios of a rule.
func (m places) most(id string) (file string) {
	for _, f := range slices.Sorted(maps.Keys(m[id])) {
		if m[id][f] > m[id][file] {
			file = f
		}
	}
	return file
}

// referenced returns the constants of package rule that the verifiers name.
func referenced(t *testing.T) map[string]bool {
	t.Helper()
	var files []string
	for _, pattern := range []string{"*.go", "*/*.go", "../link/*.go"} {
		list, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, list...)
	}
	files = slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, "_test.go") })
	names := map[string]bool{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range references.FindAllSubmatch(b, -1) {
			names[string(m[1])] = true
		}
	}
	return names
}
