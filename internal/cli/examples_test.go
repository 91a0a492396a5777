package cli

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the verdicts of the examples; read them before committing")

// TestExamples runs each scenario of examples/ and compares its verdict with testdata/examples.
func TestExamples(t *testing.T) {
	if raced {
		t.Skip("make unit runs it without the race detector, under which it takes long: what it runs is tested under it elsewhere")
	}
	t.Chdir("../..")
	scenarios, err := filepath.Glob("examples/*.yaml")
	if err != nil || len(scenarios) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	golden := filepath.Join("internal", "cli", "testdata", "examples")
	known := map[string]bool{}
	for _, path := range scenarios {
		name := strings.TrimSuffix(filepath.Base(path), ".yaml")
		known[name+".txt"] = true
		t.Run(name, func(t *testing.T) {
			got := verdict(t, path)
			file := filepath.Join(golden, name+".txt")
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
			if d := cmp.Diff(string(want), got); d != "" {
				t.Errorf("another verdict (-want +got); -update takes it over:\n%s", d)
			}
		})
	}
	files, err := os.ReadDir(golden)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !known[f.Name()] {
			t.Errorf("%s/%s is the verdict of no example: remove it", golden, f.Name())
		}
	}
}

// verdict is what the command prints on a scenario, what it logs and how it exits.
func verdict(t *testing.T, args ...string) string {
	t.Helper()
	status, out, errs := run(t, append([]string{"simulate"}, args...)...)
	var log strings.Builder
	for line := range strings.Lines(errs) { // without the time
		_, message, _ := strings.Cut(line, `"message":`)
		fmt.Fprintf(&log, "%s\n", strings.TrimSuffix(strings.TrimSpace(message), "}"))
	}
	for _, x := range counted {
		out = x.ReplaceAllString(out, "")
	}
	return fmt.Sprintf("exit status %d\n%s\n%s", status, log.String(), out)
}

// counted is what a verdict says of the catalogue, which grows.
var counted = []*regexp.Regexp{regexp.MustCompile(`; \d+ of \d+ rules exercised`), regexp.MustCompile(`(?m)^Rules  .*\n(?: .*\n)*\n?`)}

// run runs the command.
func run(t *testing.T, args ...string) (status int, out, errs string) {
	t.Helper()
	dir := t.TempDir()
	var files [2]*os.File
	for i, name := range []string{"out", "err"} {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files[i] = f
	}
	status = Main(args, files[0], files[1])
	text := func(f *os.File) string {
		b, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	return status, text(files[0]), text(files[1])
}

// TestSimulateKeeps: what is kept of a run is verified as the run was, and reading the events again works.
func TestSimulateKeeps(t *testing.T) {
	dir := t.TempDir()
	wire, events := filepath.Join(dir, "x.pcapng"), filepath.Join(dir, "x.jsonl")
	args := []string{"simulate", "--format", "json", "--write", wire, "--events", events, "../../examples/lost-request.yaml"}
	status, simulated, errs := run(t, args...)
	if status != 0 || errs != "" {
		t.Fatalf("exit status %d: %s", status, errs)
	}
	status, checked, errs := run(t, "check", "-q", "--near", "10.0.0.1", "--format", "json", "--events", filepath.Join(dir, "x.a.jsonl"), "--events", filepath.Join(dir, "x.b.jsonl"), wire)
	if status != 0 || errs != "" {
		t.Fatalf("exit status %d: %s", status, errs)
	}
	simulated = strings.ReplaceAll(simulated, "../../examples/lost-request.yaml", wire)
	if d := cmp.Diff(simulated, checked); d != "" {
		t.Errorf("simulated (-) and checked (+):\n%s", d)
	}
	if status, _, errs = run(t, "simulate", "--write", filepath.Join(dir, "none", "x"), "../../examples/send.yaml"); status != 2 || !strings.Contains(errs, "give a file that can be written") {
		t.Errorf("exit status %d: %s", status, errs)
	}
}

// TestSimulateSeed: another seed gives another run, and the same one the same.
func TestSimulateSeed(t *testing.T) {
	of := func(seed string) string {
		return verdict(t, "--all", "--seed", seed, "../../examples/random-loss.yaml")
	}
	if of("1") == of("2") {
		t.Error("two seeds give the same run")
	}
	if d := cmp.Diff(of("3"), of("3")); d != "" {
		t.Error(d)
	}
}

// TestSimulateLimit: a run without end is ended, told, and exits as what was judged.
func TestSimulateLimit(t *testing.T) {
	file := filepath.Join(t.TempDir(), "endless.yaml")
	text := "hcas: {a: 10.0.0.1, b: 10.0.0.2}\nqps:\n  a1: {hca: a, peer: b1}\n  b1: {hca: b, peer: a1}\nwork:\n  - {qp: a1, op: send, length: 100}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	status, out, errs := run(t, "simulate", "--packets", "500", file)
	want := "ended after 500 packets, where its work takes about 2: of the last 500, 250 are RC SEND Only from a to b1, 250 are RC Acknowledge from b to a1."
	if status != 2 || !strings.Contains(errs, want) || !strings.HasPrefix(out, "INCOMPLETE") {
		t.Errorf("exit status %d: %s%s", status, errs, out)
	}
	faulty := strings.Replace(text, "a: 10.0.0.1", "a: {address: 10.0.0.1, fault: message-repeated, fault_always: true}", 1)
	if err := os.WriteFile(file, []byte("packets: 500\n"+strings.Replace(faulty, "peer: b1", "type: UC, peer: b1", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, out, errs = run(t, "simulate", file); status != 1 || !strings.Contains(errs, "ended after 500 packets") || !strings.HasPrefix(out, "VIOLATED") {
		t.Errorf("exit status %d: %s%s", status, errs, out)
	}
}
