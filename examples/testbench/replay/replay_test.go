// Package replay holds the layers for simulators to what they promise: the same traffic gives the same findings, at the same times, in each.
package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ibwitness/internal/testkit/memcheck"
	"ibwitness/internal/testkit/programs"
)

const (
	root     = "../../.."
	hardware = root + "/internal/testkit/planted/testdata/hardware/"
)

// A play is traffic, and what must be told of it: the time of each violation in picoseconds, with its rule.
type play struct {
	name string
	from []string
	told []string
}

var (
	clean = play{"clean", []string{"fns_clean.pcap"}, nil}
	odd   = play{"odd", []string{"fns_odd.pcap"}, []string{"15705000 BTH-006"}}
	// A device that is never answered: what it does wrong in retransmissions, and what it tells its software of that in the end.
	silence = play{"silence", []string{"surf_blackhole.pcap", "surf_blackhole.jsonl"}, []string{
		"2813000 BTH-012", "2879000 BTH-012", "265637000 BTH-012", "265703000 BTH-012", "527873000 BTH-012", "527873000 RC-TMO-002", "527939000 BTH-012",
		"790109000 BTH-012", "790109000 RC-TMO-002", "790175000 BTH-012", "1052169000 CPL-STS-006",
	}}
)

// A simulation is a testbench that was compiled for a simulator.
type simulation struct {
	t       *testing.T
	dir     string // of the files that it needs and writes
	command []string
	plus    string         // before the name of an option: + of Verilog, -g of GHDL
	error   *regexp.Regexp // time, rule
	ns      bool           // times are in nanoseconds
	last    *exec.Cmd      // what ran last
}

// folder has the library, and the tool that writes what is played, built.
var folder = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "replay")
	if err != nil {
		return "", err
	}
	for _, args := range [][]string{
		{"build", "-buildmode=c-shared", "-o", filepath.Join(dir, "libibwitness.so"), "./cmd/libibwitness"},
		{"build", "-o", filepath.Join(dir, "frames"), "./examples/testbench/replay/frames"},
	} {
		cmd := exec.Command("go", args...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", errors.New(string(out))
		}
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	status := m.Run()
	if dir, err := folder(); err == nil {
		os.RemoveAll(dir)
	}
	os.Exit(status)
}

// built is the folder with the library. Where a program that the test needs is missing, it fails in continuous integration, and is skipped elsewhere.
func built(t *testing.T, needs ...string) string {
	t.Helper()
	for _, p := range needs {
		programs.Need(t, p)
	}
	dir, err := folder()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// compile runs a program in a folder, which must find nothing to complain of.
func compile(t *testing.T, dir string, command ...string) {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+built(t))
	if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "arning") {
		t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, out)
	}
}

// path is a file of the repository.
func path(t *testing.T, name string) string {
	t.Helper()
	p, err := filepath.Abs(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// config writes the configuration of the example, with reports.
func (s *simulation) config() {
	text, err := os.ReadFile("ibw.json")
	if err != nil {
		s.t.Fatal(err)
	}
	const reports = `"reports": {"json": "report.json", "junit": "report.xml"},`
	write(s.t, filepath.Join(s.dir, "ibw.json"), strings.Replace(string(text), "{", "{"+reports, 1))
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// load writes what is played.
func (s *simulation) load(p play) {
	s.t.Helper()
	s.config()
	args := []string{"--near", "10.0.0.1"}
	for _, name := range p.from {
		args = append(args, hardware+name)
	}
	out, err := exec.Command(filepath.Join(built(s.t), "frames"), args...).Output()
	if err != nil {
		s.t.Fatal(err)
	}
	write(s.t, filepath.Join(s.dir, "replay.txt"), string(out))
}

// start begins a simulation with options, each without its + or -g.
func (s *simulation) start(options ...string) (*exec.Cmd, *transcript) {
	s.t.Helper()
	cmd, out := s.prepare(options...)
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	return cmd, out
}

// prepare is a simulation that has not begun.
func (s *simulation) prepare(options ...string) (*exec.Cmd, *transcript) {
	s.t.Helper()
	for _, name := range []string{"report.json", "report.xml"} {
		os.Remove(filepath.Join(s.dir, name))
	}
	args := slices.Clone(s.command[1:])
	for _, o := range options {
		args = append(args, s.plus+o)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	s.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, s.command[0], args...)
	cmd.Dir = s.dir
	out := new(transcript)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+built(s.t), "IBWITNESS_CONFIG=")
	s.last = cmd
	return cmd, out
}

// A transcript is what a program has said until now.
type transcript struct {
	mu   sync.Mutex
	text strings.Builder
}

func (t *transcript) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(p)
}

func (t *transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

// run is what a simulation says, and its exit status; -1: a signal.
func (s *simulation) run(options ...string) (string, int) {
	s.t.Helper()
	cmd, out := s.start(options...)
	_ = cmd.Wait()
	return out.String(), cmd.ProcessState.ExitCode()
}

// errors are the violations that were told, as those of a play.
func (s *simulation) errors(out string) (list []string) {
	for _, m := range s.error.FindAllStringSubmatch(out, -1) {
		at := m[1]
		if s.ns {
			at += "000"
		}
		list = append(list, at+" "+m[2])
	}
	return list
}

// reported are the rules of the violations that the reports have, which must be whole.
func (s *simulation) reported() (rules []string) {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "report.json"))
	if err != nil {
		s.t.Fatalf("no report was written: %v\n%v\n%s", err, s.last.ProcessState, s.last.Stdout)
	}
	last := ""
	for d := json.NewDecoder(bytes.NewReader(text)); d.More(); {
		var line struct{ Kind, Rule, Class string }
		if err := d.Decode(&line); err != nil {
			s.t.Fatalf("the report is not whole: %v", err)
		}
		if line.Kind == "finding" && line.Class == "violation" {
			rules = append(rules, line.Rule)
		}
		last = line.Kind
	}
	if last != "summary" {
		s.t.Fatalf("the report breaks off after a %q", last)
	}
	if text, err := os.ReadFile(filepath.Join(s.dir, "report.xml")); err != nil || !strings.HasSuffix(strings.TrimSpace(string(text)), "</testsuites>") {
		s.t.Fatalf("the report for JUnit is not whole: %v", err)
	}
	return rules
}

// plays plays something to its end.
func (s *simulation) plays(p play) {
	s.t.Helper()
	s.load(p)
	out, status := s.run()
	if got := s.errors(out); !slices.Equal(got, p.told) {
		s.t.Errorf("%s: %q were told, and %q should have been:\n%s", p.name, got, p.told, out)
	}
	if want := min(1, len(p.told)); status != want {
		s.t.Errorf("%s: exit status %d, and not %d:\n%s", p.name, status, want, out)
	}
	if s.reported(); len(p.told) == 0 && strings.Contains(out, "ibwitness:") {
		s.t.Errorf("%s: nothing was wrong, and it said:\n%s", p.name, out)
	}
}

// falls plays a device that falls silent with requests outstanding, and events that show that its queue pair is still there. It is told while nothing comes, but where the device
// was reset: then it owes nothing any more.
func (s *simulation) falls(reset string, options ...string) {
	s.t.Helper()
	s.load(silence)
	name := filepath.Join(s.dir, "replay.txt")
	text, err := os.ReadFile(name)
	if err != nil {
		s.t.Fatal(err)
	}
	write(s.t, name, strings.Join(strings.SplitAfter(string(text), "\n")[:22], ""))
	out, status := s.run(append(options, reset)...)
	if got := s.errors(out); status != 1 || len(got) != 2 || strings.Contains(out, "outstanding") {
		s.t.Errorf("exit status %d, %q were told of a device that was reset:\n%s", status, got, out)
	}
	out, status = s.run(options...)
	got := s.errors(out)
	if n := len(got); status != 1 || n != 3 || !inTime(got[n-1]) || !strings.Contains(out, "within 1.048576ms:") {
		s.t.Errorf("exit status %d, %q were told, and the last should have been RC-TMO-004, when four timer values of 262 µs had passed since 50.5 µs:\n%s", status, got, out)
	}
}

// inTime reports whether the silence was told when its time was over: time is told each microsecond, by a clock that is as slow.
func inTime(told string) bool {
	var at int64
	var rule string
	_, err := fmt.Sscan(told, &at, &rule)
	const over = 50_500_000 + 4*262_144_000
	return err == nil && rule == "RC-TMO-004" && at > over && at <= over+2_000_000
}

// stops plays what is odd up to its first error.
func (s *simulation) stops(option string) {
	s.t.Helper()
	s.load(silence)
	out, status := s.run(option)
	if got, want := s.errors(out), silence.told[:1]; !slices.Equal(got, want) || status != 1 {
		s.t.Errorf("exit status %d, %q were told, and %q should have been:\n%s", status, got, want, out)
	}
	if got := s.reported(); !slices.Equal(got, []string{"BTH-012"}) {
		s.t.Errorf("the report has %q", got)
	}
}

// ends ends a simulation in all ways that it has, and looks at its reports: by itself, with the option fatal, and by signals, with hang.
func (s *simulation) ends(fatal, hang string) {
	s.t.Helper()
	s.load(odd)
	if out, status := s.run(fatal); status == 0 || !slices.Equal(s.reported(), []string{"BTH-006"}) {
		s.t.Errorf("%s: exit status %d:\n%s", fatal, status, out)
	}
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		cmd, out := s.start(hang)
		for until := time.Now().Add(time.Minute); len(s.errors(out.String())) == 0 && time.Now().Before(until); {
			time.Sleep(time.Millisecond)
		}
		if err := cmd.Process.Signal(sig); err != nil {
			s.t.Fatal(err)
		}
		_ = cmd.Wait()
		if cmd.ProcessState.ExitCode() == 0 || !slices.Equal(s.reported(), []string{"BTH-006"}) {
			s.t.Errorf("%v: %v:\n%s", sig, cmd.ProcessState, out)
		}
	}
}

// fewTimes is for every change; make soak asks for more, and for valgrind.
const fewTimes = 4

var times = flag.Int("times", fewTimes, "how often each simulator runs, and ends in each way")

// again runs a simulation so often, and ends it in all ways, that what goes wrong now and then would show; of many times once under
// valgrind.
func (s *simulation) again(fatal, hang string) {
	s.t.Helper()
	begin := time.Now()
	for range *times {
		s.load(odd)
		if out, status := s.run(); status != 1 || !slices.Equal(s.errors(out), odd.told) {
			s.t.Fatalf("exit status %d:\n%s", status, out)
		}
		if s.reported(); s.t.Failed() {
			return
		}
		if s.ends(fatal, hang); s.t.Failed() {
			return
		}
	}
	s.t.Logf("%d times each: a run to its end, %s, SIGINT, SIGTERM: no crash, all reports complete (%.1f s)", *times, fatal, time.Since(begin).Seconds())
	if *times <= fewTimes {
		return
	}
	s.t.Run("valgrind", func(t *testing.T) {
		cmd, out := s.prepare()
		faults := memcheck.Command(t, cmd)
		_ = cmd.Run()
		if cmd.ProcessState.ExitCode() != 1 || !slices.Equal(s.errors(out.String()), odd.told) {
			t.Errorf("%v\n%s", cmd.ProcessState, out)
		}
		for _, f := range faults() {
			t.Error(f)
		}
	})
}
