package verifier_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

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
// exercised and keeps silent; an event has one that shows it.
func TestEveryRuleHasScenarios(t *testing.T) {
	fires, clean, events := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, path := range scenarioFiles(t) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range shown.FindAllSubmatch(b, -1) {
			events[string(e[1])] = true
		}
		for _, d := range directives.FindAllSubmatch(b, -1) {
			for _, word := range strings.Fields(string(d[2])) {
				if string(d[1]) == "clean" {
					clean[word] = true
				} else {
					fires[word] = true
				}
			}
		}
	}
	judged := referenced(t)
	for _, id := range rule.Rules() {
		r := id.Row()
		if r.Where == "" && !judged[strings.ReplaceAll(r.ID, "-", "")] {
			continue
		}
		if !fires[r.ID] {
			t.Errorf("%s %s: no scenario in which it fires", r.ID, r.Name)
		}
		if !clean[r.ID] {
			t.Errorf("%s %s: no scenario in which it is exercised and keeps silent", r.ID, r.Name)
		}
	}
	for _, id := range rule.Events() {
		if r := id.Row(); r.Where != "" && !events[r.ID] {
			t.Errorf("%s %s: no scenario shows it", r.ID, r.Name)
		}
	}
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
