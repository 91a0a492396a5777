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
	notes uint32
	count [rule.NumRules]rule.Count
	sum   [rule.NumRules]uint32
}

// Note adds something else that is to stay the same.
func (y *Tally) Note(text string) { y.notes = crc32.Update(y.notes, crc32.IEEETable, []byte(text)) }

// Only leaves out all rules but those of which a name begins so.
func (y *Tally) Only(prefixes ...string) {
	for id := range y.count {
		if !slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(rule.ID(id).String(), p) }) {
			y.count[id], y.sum[id] = rule.Count{}, 0
		}
	}
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
		text := fmt.Sprintln(f.Class, f.Frame, f.PSN, f.Evidence, f.Accused, f.Peer, f.Expected, f.Actual, f.Detail, f.Gap, f.Assumes, f.Cut, f.Time)
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
	if y.notes != 0 {
		lines = append(lines, fmt.Sprintf("%08x\n", y.notes))
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

// Whole is why a test is skipped with -short whose golden file counts all runs together.
const Whole = "its golden file counts all runs together"

// Text compares with a golden file, line by line; with -rewrite it writes the file. With -short the text may be a part of the lines, in their order.
func Text(t *testing.T, path, text string) {
	t.Helper()
	if Rewriting() {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	was, now := strings.Split(string(b), "\n"), strings.Split(text, "\n")
	for i, line := range now {
		if k := slices.Index(was[min(i, len(was)):], line); testing.Short() && k > 0 {
			was = slices.Delete(was, i, i+k)
		}
		if i >= len(was) || was[i] != line {
			t.Fatalf("line %d is now\n%s\nif this is meant, make golden writes %s", i+1, line, path)
		}
	}
	if len(now) != len(was) && !testing.Short() {
		t.Errorf("%d lines, and there were %d: if this is meant, make golden writes %s", len(now), len(was), path)
	}
}
