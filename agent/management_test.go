package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/rule"
)

// TestManagement holds the verdict on management traffic of real software: what its manager and nodes do otherwise than the standard is found, and
// nobody is accused of anything else, at one tap and at several taps of one run.
func TestManagement(t *testing.T) {
	datadriven.RunTest(t, "testdata/management.txt", func(t *testing.T, d *datadriven.TestData) string {
		return folded(judged(t, d.CmdArgs, agent.Options{}))
	})
}

// judged is the verdict on captures of testdata, the taps of one run.
func judged(t *testing.T, captures []datadriven.CmdArg, opt agent.Options) *agent.Result {
	var files []string
	for _, a := range captures {
		files = append(files, "../testdata/captures/"+a.Key+".pcap.zst")
	}
	src, err := fabricagent.Open(files)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	r, err := agent.Run(context.Background(), src, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// folded lists the findings of a run, those of one rule against one endpoint on one line.
func folded(r *agent.Result) string {
	type key struct {
		rule             rule.ID
		class            rule.Class
		accused          rule.Endpoint
		expected, actual string
	}
	times := map[key]int{}
	var order []rule.Finding
	keyOf := func(f *rule.Finding) key {
		k := key{f.Rule, f.Class, f.Accused, f.Expected, f.Actual}
		if strings.HasPrefix(f.Actual, "after ") {
			k.actual = "" // times differ
		}
		return k
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Class == rule.Event {
			continue
		}
		if times[keyOf(f)]++; times[keyOf(f)] == 1 {
			order = append(order, *f)
		}
	}
	var b strings.Builder
	for i := range order {
		f := &order[i]
		e := &f.Accused
		fmt.Fprintf(&b, "%v %v %v %v %q %s, %d times, first at tap %d frame %d\n  expected %s\n  actual %s\n", f.Rule, f.Class, e.Role, e.Addr, e.Node.Description, e.Node.Route,
			times[keyOf(f)], f.Tap, f.Frame, f.Expected, f.Actual)
	}
	return b.String()
}
