package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// covered has a scenario of examples/ run, and returns the file with what it has covered.
func covered(t *testing.T, dir, scenario string, more ...string) string {
	t.Helper()
	path := filepath.Join(dir, scenario+".json")
	status, _, log := run(t, append([]string{"simulate", "--coverage", path, "../../examples/" + scenario + ".yaml"}, more...)...)
	if status > 1 {
		t.Fatalf("%s: exit status %d: %s", scenario, status, log)
	}
	return path
}

// TestCoverage: runs of simulate and check are added up, and each has its name.
func TestCoverage(t *testing.T) {
	dir := t.TempDir()
	lost, wrap := covered(t, dir, "lost-ack"), covered(t, dir, "psn-wrap", "--run", "the wrap")
	capture := filepath.Join(dir, "naks.json")
	if status, _, log := run(t, "check", "--coverage", capture, naks); status != 1 {
		t.Fatalf("exit status %d: %s", status, log)
	}
	status, out, log := run(t, "coverage", "merge", lost, wrap, capture, lost)
	if status != 0 || log != "" || !strings.HasPrefix(out, "Coverage of 3 runs: ") {
		t.Errorf("exit status %d: %s%s", status, out, log)
	}
	name := strings.TrimSuffix(filepath.Base(naks), ".pcap")
	for _, want := range []string{"lost-ack", "the wrap", name, "Violated rules\n  RC-RSP-043 ("} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %q in\n%s", want, out)
		}
	}
	status, out, _ = run(t, "coverage", "merge", "--all", lost)
	if status != 0 || !strings.Contains(out, "\n  RC RDMA READ Request with a PSN wrap inside its response was never seen\n") {
		t.Errorf("exit status %d: %s", status, out)
	}
}

// TestCoverageWorkers: what a capture covers does not depend on the number of workers.
func TestCoverageWorkers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.json")
	var want string
	for _, workers := range []string{"1", "2", "8"} {
		run(t, "check", "--workers", workers, "--coverage", path, naks)
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if want == "" {
			want = string(got)
		} else if string(got) != want {
			t.Errorf("%s workers: another document", workers)
		}
	}
	if !strings.Contains(want, `{"name":"recovery/rc/sequence-nak","count":`) {
		t.Errorf("no recovery is shown: %.2000s", want)
	}
}

// TestCoveragePlan: what a plan names and no run has seen fails; what is wrong in it is told.
func TestCoveragePlan(t *testing.T) {
	dir := t.TempDir()
	lost := covered(t, dir, "lost-ack")
	for _, k := range []struct {
		plan   string
		status int
		want   string
	}{
		{"cover: [recovery/rc/timeout, opcode/rc/send-only]", 0, "The plan is met."},
		{"cover: [recovery/rc/timeout, opcode/rc/cmpswap]", 1, "The plan is not met: 1 of 2 items are missing."},
		{"cover: [{items: opcode/rc/send-only, at-least: 100}]", 1, "SEND Only (3 of 100)"},
		{"cover: [recovery/rc/timeouts]", 2, `plan.yaml: line 1: there is no item \"recovery/rc/timeouts\": did you mean \"recovery/rc/timeout\"?`},
	} {
		path := filepath.Join(dir, "plan.yaml")
		if err := os.WriteFile(path, []byte(k.plan), 0o600); err != nil {
			t.Fatal(err)
		}
		if status, out, log := run(t, "coverage", "merge", "--plan", path, lost); status != k.status || !strings.Contains(out+log, k.want) {
			t.Errorf("%s: exit status %d: %s%s", k.plan, status, out, log)
		}
	}
}

// TestCoverageExamplePlan: the plan of examples/ names items that there are.
func TestCoverageExamplePlan(t *testing.T) {
	lost := covered(t, t.TempDir(), "lost-ack")
	if status, out, log := run(t, "coverage", "merge", "--plan", "../../examples/plans/rc.yaml", lost); status != 1 || !strings.Contains(out, "Excluded (") {
		t.Errorf("exit status %d: %s%s", status, out, log)
	}
}

// TestCoverageErrors: bad input ends with 2, and says what to do.
func TestCoverageErrors(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.json")
	if err := os.WriteFile(text, []byte("no JSON"), 0o600); err != nil {
		t.Fatal(err)
	}
	lost := covered(t, dir, "lost-ack")
	for _, k := range []struct {
		want string
		args []string
	}{
		{"text.json: it is no document of coverage", []string{"coverage", "merge", lost, text}},
		{"missing.json: no such file", []string{"coverage", "merge", filepath.Join(dir, "missing.json"), lost}},
		{"missing.yaml: no such file", []string{"coverage", "merge", "--plan", filepath.Join(dir, "missing.yaml"), lost}},
		{`Run "ibwitness coverage merge --help" for help`, []string{"coverage", "merge"}},
		{"must be one of", []string{"coverage", "merge", "--format", "xml", lost}},
		{"there is no item", []string{"coverage", "list", "opcode/rc/nothing"}},
		{"--coverage " + naks + " would overwrite the capture", []string{"check", "--coverage", naks, naks}},
		{"would overwrite the scenario", []string{"simulate", "--coverage", "../../examples/lost-ack.yaml", "../../examples/lost-ack.yaml"}},
		{"--coverage: open " + dir, []string{"simulate", "--coverage", dir, "../../examples/lost-ack.yaml"}},
	} {
		status, out, log := run(t, k.args...)
		if status != 2 || !strings.Contains(log, k.want) {
			t.Errorf("%v: exit status %d: %s%s", k.args, status, out, log)
		}
	}
}

// TestCoverageList lists the items that patterns name, and what they are.
func TestCoverageList(t *testing.T) {
	if status, out, _ := run(t, "coverage", "list", "wrap/rc/msn", "pmtu/uc"); status != 0 || out != "wrap/rc/msn\npmtu/uc/256\npmtu/uc/512\npmtu/uc/1024\npmtu/uc/2048\npmtu/uc/4096\n" {
		t.Errorf("exit status %d: %s", status, out)
	}
	if _, out, _ := run(t, "coverage", "list", "--text", "syndrome/*/rnr-nak/12"); !strings.Contains(out, "syndrome/xrc/rnr-nak/12  XRC RNR NAK with timer code 12 (640µs)\n") {
		t.Error(out)
	}
}
