// Package tally holds what verifiers say of random traffic in golden files, counted by rule.
package tally

import (
	"cmp"
	"flag"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/cockroachdb/datadriven" // has the flag -rewrite

	"ibwitness/rule"
)

// Rewriting reports whether golden files are to be rewritten.
func Rewriting() bool { return flag.Lookup("rewrite").Value.String() == "true" }

// Tally counts what was said of several runs.
type Tally struct {
	count [rule.NumRules]rule.Count
	sum   [rule.NumRules]uint32
}

// Add counts the coverage and the findings of a run.
func (y *Tally) Add(rec *rule.Recorder) {
	for id, c := range rec.Cover {
		y.count[id].Exercised += c.Exercised
		y.count[id].Violated += c.Violated
		y.count[id].Unproven += c.Unproven
	}
	found := slices.SortedStableFunc(slices.Values(rec.Findings), func(a, b rule.Finding) int {
		return cmp.Or(cmp.Compare(a.Frame, b.Frame), cmp.Compare(a.Seq, b.Seq))
	})
	for _, f := range found {
		text := fmt.Sprintln(f.Class, f.Frame, f.PSN, f.Evidence, f.Accused, f.Peer, f.Expected, f.Actual, f.Detail, f.Gap, f.Leans, f.Cut, f.Time)
		y.sum[f.Rule] = crc32.Update(y.sum[f.Rule], crc32.IEEETable, []byte(text))
	}
}

// Check compares with a golden file that has of each rule how often it was exercised, violated and unproven, and a checksum of its findings. Nobody has judged
// whether these are right: what differs shows what a change of the verifiers changes. With -rewrite, as of make golden, it writes the file.
func (y *Tally) Check(t *testing.T, path string) {
	t.Helper()
	var lines []string
	for id := range y.count {
		if c := y.count[id]; c != (rule.Count{}) || y.sum[id] != 0 {
			lines = append(lines, fmt.Sprintf("%-12v exercised %6d  violated %5d  unproven %5d  %08x\n", rule.ID(id), c.Exercised, c.Violated, c.Unproven, y.sum[id]))
		}
	}
	if Rewriting() {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	was := slices.Collect(strings.Lines(string(b)))
	for _, l := range was {
		if !slices.Contains(lines, l) {
			t.Errorf("no longer: %s", l)
		}
	}
	for _, l := range lines {
		if !slices.Contains(was, l) {
			t.Errorf("now:       %s", l)
		}
	}
	if t.Failed() {
		t.Log("if this is meant, make golden writes " + path)
	}
}
