package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ibwitness/internal/cli"
	"ibwitness/rule"
)

var update = flag.Bool("update", false, "rewrite the output that README.md shows; read it before committing")

// TestReadme holds the picture in README.md against what the command prints.
func TestReadme(t *testing.T) {
	t.Chdir("../..")
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	picture := regexp.MustCompile("(?s)(```text\n\\$ ibwitness )(.*?)(\n)(.*?)(```\n)")
	parts := picture.FindSubmatch(text)
	if parts == nil {
		t.Fatal("README.md shows no output: it needs a ```text block that begins with \"$ ibwitness\"")
	}
	got := output(t, strings.Fields(string(parts[2])))
	if *update {
		text = picture.ReplaceAllLiteral(text, []byte(string(parts[1])+string(parts[2])+"\n"+got+"```\n"))
		if err := os.WriteFile("README.md", text, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(string(parts[4]), got); d != "" {
		t.Errorf("README.md shows other output (-shown +real); make docs rewrites it:\n%s", d)
	}
}

// TestReadmeTotals holds the numbers of rules that README.md tells against the catalogue.
func TestReadmeTotals(t *testing.T) {
	rules, events, needEvents := rule.Rules(), rule.Events(), 0
	for _, id := range rules {
		if id.NeedsEvents() && id.Row().Where != "" {
			needEvents++
		}
	}
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		fmt.Sprintf("The catalogue has %d rows: %d events and %d rules;", len(rules)+len(events), len(events), len(rules)),
		fmt.Sprintf("%d of the rules are judged only with verbs events", needEvents),
		fmt.Sprintf("without these counts %d.", len(rules)-needEvents),
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("README.md does not say %q", want)
		}
	}
}

func output(t *testing.T, args []string) string {
	t.Helper()
	out, err := os.CreateTemp(t.TempDir(), "out")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if status := cli.Main(args, out, os.Stderr); status > 1 {
		t.Fatalf("exit status %d", status)
	}
	got, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}
