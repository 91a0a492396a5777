package incident_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/incident"
	"ibwitness/internal/scenario"
)

var update = flag.Bool("update", false, "write the golden files")

// TestExamples tells what happened in each scenario of examples/: a connection without trouble has no incident.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	var b strings.Builder
	for _, file := range files {
		sc, err := scenario.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		run, err := sc.Start(scenario.Options{})
		if err != nil {
			t.Fatal(err)
		}
		result, err := agent.Run(context.Background(), run.Ahead(), agent.Options{Near: run.NearAddrs(), Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		told(&b, filepath.Base(file), incident.Of(result))
	}
	golden(t, "testdata/examples.txt", b.String())
}

// TestCaptures tells what happened in real captures.
func TestCaptures(t *testing.T) {
	files, err := filepath.Glob("../testdata/captures/*.pcap*")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	var b strings.Builder
	for _, file := range files {
		var before string
		for _, workers := range []int{1, 2, 8} {
			src, err := fabricagent.Open([]string{file})
			if err != nil {
				t.Fatal(err)
			}
			result, err := agent.Run(context.Background(), src, agent.Options{Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			_ = src.Close()
			var one strings.Builder
			told(&one, filepath.Base(file), incident.Of(result))
			if workers == 1 {
				before = one.String()
				b.WriteString(before)
			} else if one.String() != before {
				t.Errorf("%s: %d workers tell\n%swhere one tells\n%s", file, workers, one.String(), before)
			}
		}
	}
	golden(t, "testdata/captures.txt", b.String())
}

// told writes incidents: of each kind, what happened, the facts, and the frames.
func told(b *strings.Builder, name string, list []incident.Incident) {
	fmt.Fprintf(b, "%s: %d\n", name, len(list))
	for i := range list {
		x := &list[i]
		fmt.Fprintf(b, "    %v (%v): %s\n", x.Kind, x.Certainty, x.What)
		for _, f := range x.Facts {
			fmt.Fprintf(b, "        %s: %s\n", f.Label, f.Text)
		}
		fmt.Fprintf(b, "        frames: %v\n", x.Frames)
		if !slices.IsSorted(x.Frames) {
			fmt.Fprintln(b, "        THE FRAMES ARE NOT IN ORDER")
		}
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs: -update writes it, to be reviewed; now it would be\n%s", file, got)
	}
}
