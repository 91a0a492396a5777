// Package rtl holds the monitors to what they are for: each planted bug of a channel adapter is told while its simulation runs, under its rule, in the cycle that shows it.
package rtl

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"ibwitness/internal/testkit/sample"
)

const root = "../../.."

// When a violation is told that a frame shows.
type when int

const (
	atOnce when = iota // at the last beat of the frame that it names
	later              // at that of a later frame, without which it was not certain
	silent             // when the time is over that it names, since a frame
)

// A bug is what the device does wrong, with the phases of the bench that show it, and the rule that it must first be told under, of the device in SystemVerilog and of
// that in VHDL, with when. Without a rule, nothing may be told.
type bug struct {
	number int
	phases string
	rule   string
	when   when
	vhdl   string
}

var bugs = []bug{
	{0, "3f", "", atOnce, ""},
	{0, "40", "", atOnce, ""},
	{1, "2", "BTH-012", atOnce, ""},
	{2, "1", "BTH-006", atOnce, "BTH-006"},
	{3, "8", "RC-RTY-004", atOnce, ""},
	{4, "4", "RC-TMO-002", atOnce, ""},
	{5, "8", "RC-TMO-004", silent, ""},
	{6, "4", "RC-RSP-013", atOnce, "RC-RSP-013"},
	{7, "2", "RC-RSP-006", later, "RC-RSP-006"},
	{8, "2", "RC-RSP-012", later, "RC-RSP-012"},
	{9, "1", "ROC-V2-019", atOnce, "ROC-V2-019"},
	{10, "2", "CPL-MEM-003", atOnce, "RC-RSP-012"},
	{11, "2", "RC-RSP-005", silent, "RC-RSP-005"},
	{12, "20", "RC-RNR-001", atOnce, ""},
	{13, "c", "RC-PSN-004", atOnce, ""},
	{14, "10", "RC-RES-002", atOnce, "RC-RES-002"},
	{15, "4", "RC-TMO-004", silent, ""},
}

const (
	device = "10.0.0.1"
	peer   = "10.0.0.2"
	// A violation is told at the edge that takes the last beat of its frame, or at the next where it takes a comparison with verbs events.
	cycle = 4
	// How often the monitors tell the time.
	tick = 1000
	// When the bench that plays frames has the first, and its monitor takes it.
	lead = 21
)

// A told violation.
type told struct {
	at      int64 // nanoseconds
	rule    string
	accused string
	frame   int           // that shows it, counted from 1 at both ports of the device; 0: none is named
	within  time.Duration // that something had to happen in; 0: none is named
}

// A simulator has the bench compiled, and runs it for a bug.
type simulator struct {
	name    string
	pcap    string
	line    *regexp.Regexp // time, rule, accused
	scale   int64          // of its times, in a nanosecond
	command func(b bug) []string
	wants   func(b bug) (rule string, ok bool) // ok: it has that bug
}

const violation = `ibwitness: violation (\S+) [^:]*?(10\.0\.0\.\d) QP.*?(?:\(frame (\d+)\))?\r?\n`

var deadline = regexp.MustCompile(`expected \D* within ([0-9.]+µs): `)

func systemVerilog(b bug) (string, bool) { return b.rule, true }
func vhdl(b bug) (string, bool)          { return b.vhdl, b.number == 0 && b.phases == "3f" || b.vhdl != "" }

// TestTestbench runs the device with each of its bugs, and without, in three simulators.
func TestTestbench(t *testing.T) {
	if testing.Short() {
		t.Skip("compiling takes long")
	}
	sample.Share(t, 1, 2)
	for _, p := range []string{"verilator", "g++", "iverilog", "vvp", "gcc", "ghdl"} {
		switch _, err := exec.LookPath(p); {
		case err != nil && os.Getenv("CI") != "":
			t.Fatalf("%s is not installed: make deps installs it", p)
		case err != nil:
			t.Skipf("%s is not installed, so that nothing is tested: make deps installs it", p)
		}
	}
	dir := t.TempDir()
	run(t, root, "go", "build", "-buildmode=c-shared", "-o", filepath.Join(dir, "libibwitness.so"), "./cmd/libibwitness")
	run(t, root, "go", "build", "-pgo=off", "-o", filepath.Join(dir, "ibwitness"), "./cmd/ibwitness") // as the tests are
	simulators := []*simulator{verilator(t, dir), icarus(t, dir), ghdl(t, dir)}

	table := make([][]string, len(bugs))
	for i := range table {
		table[i] = make([]string, len(simulators))
	}
	firsts := make([][]told, len(bugs))
	for i := range firsts {
		firsts[i] = make([]told, len(simulators))
	}
	var wg sync.WaitGroup
	slots := make(chan bool, 2)
	for i, b := range bugs {
		for j, s := range simulators {
			rule, ok := s.wants(b)
			if !ok {
				continue // repeat shows it
			}
			wg.Add(1)
			slots <- true
			go func() {
				defer func() { <-slots; wg.Done() }()
				firsts[i][j], table[i][j] = s.judge(t, dir, b, rule)
			}()
		}
	}
	wg.Wait()
	again := replayed(t, dir)
	for i, b := range bugs {
		if _, ok := simulators[2].wants(b); !ok {
			table[i][2] = again.repeat(t, dir, b, firsts[i][1]) + ", played"
		}
	}
	for i, b := range bugs {
		if v, o := firsts[i][0], firsts[i][1]; v != o {
			t.Errorf("bug %d: Verilator told %+v first, Icarus %+v", b.number, v, o)
			table[i][1] += " DIFFERS"
		}
	}
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "BUG\tphases")
	for _, s := range simulators {
		fmt.Fprintf(w, "\t%s", s.name)
	}
	fmt.Fprintln(w)
	for i, b := range bugs {
		fmt.Fprintf(w, "%d\t%s\t%s\n", b.number, b.phases, strings.Join(table[i], "\t"))
	}
	w.Flush()
	t.Logf("rule and simulated time of the first violation that is told; in GHDL of the responder in VHDL, or where it lacks the bug of the frames and events of Icarus, played\n%s", text.String())
}

// repeat plays in GHDL, which has no SystemVerilog, what came and went at the device in Icarus, and its verbs events: the same must be told.
func (s *simulator) repeat(t *testing.T, dir string, b bug, want told) string {
	from := filepath.Join(dir, fmt.Sprintf("Icarus-%d-%s", b.number, b.phases))
	place := filepath.Join(dir, fmt.Sprintf("replay-%d-%s", b.number, b.phases))
	text, err := exec.CommandContext(t.Context(), filepath.Join(dir, "frames"), "--near", device, filepath.Join(from, s.pcap), filepath.Join(from, "a.jsonl")).Output()
	if err == nil {
		err = os.MkdirAll(place, 0o750)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(place, "replay.txt"), text, 0o600)
	}
	config, err2 := os.ReadFile("ibw.json")
	config = []byte(strings.NewReplacer(`"a.rx"`, `"dut.rx"`, `"a.tx"`, `"dut.tx"`, `"a"`, `"dut"`).Replace(string(config)))
	if err = errors.Join(err, err2, os.WriteFile(filepath.Join(place, "ibw.json"), config, 0o600)); err != nil {
		t.Error(err)
		return "NOT RUN"
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	args := s.command(b)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env = place, environment(dir)
	out, err := cmd.CombinedOutput()
	stamps, pcapErr := frames(filepath.Join(from, s.pcap))
	began := regexp.MustCompile(`^0 0 {"t":17000000000*(\d+),`).FindSubmatch(text)
	if pcapErr != nil || began == nil {
		t.Errorf("bug %d: %v, %v\n%s", b.number, err, pcapErr, out)
		return "NOT RUN"
	}
	var first told
	for _, v := range s.violations(string(out)) {
		if v.accused == device && first.rule == "" {
			first = v
		} else if v.accused == peer {
			t.Errorf("%s, bug %d: the peer, which has none, is accused:\n%s", s.name, b.number, out)
		}
	}
	if first.rule == "" {
		if want.rule != "" {
			t.Errorf("%s, bug %d: nothing was told, and %+v in Icarus:\n%s", s.name, b.number, want, out)
			return "MISSED " + want.rule
		}
		return "clean"
	}
	start, _ := strconv.ParseInt(string(began[1]), 10, 64)
	first.at += start - lead
	if first.rule != want.rule || first.frame != want.frame || !first.inTime(stamps, b.when) {
		t.Errorf("%s, bug %d: %+v was told first, and %+v in Icarus:\n%s", s.name, b.number, first, want, out)
		return "DIFFERS"
	}
	return fmt.Sprintf("%s %d ns", first.rule, first.at)
}

// judge runs a bug, and says what was told of the device first, and what the table shows.
func (s *simulator) judge(t *testing.T, dir string, b bug, rule string) (told, string) {
	place := filepath.Join(dir, fmt.Sprintf("%s-%d-%s", s.name, b.number, b.phases))
	if err := os.MkdirAll(place, 0o750); err != nil {
		t.Error(err)
		return told{}, "NOT RUN"
	}
	config, err := os.ReadFile("ibw.json")
	if err == nil {
		config = bytes.Replace(config, []byte("{"), []byte(`{"record": "run.pcapng", "reports": {"json": "run.json"},`), 1)
		err = os.WriteFile(filepath.Join(place, "ibw.json"), config, 0o600)
	}
	if err != nil {
		t.Error(err)
		return told{}, "NOT RUN"
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	args := s.command(b)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env = place, environment(dir)
	out, err := cmd.CombinedOutput()
	status := cmd.ProcessState.ExitCode()
	stamps, pcapErr := frames(filepath.Join(place, s.pcap))
	if pcapErr != nil {
		t.Errorf("%s, bug %d: %v, %v\n%s", s.name, b.number, err, pcapErr, out)
		return told{}, "NOT RUN"
	}

	var first told
	var wrong []string
	if !s.checkedAgain(ctx, t, dir, place) {
		wrong = append(wrong, "CHECK DIFFERS")
	}
	list := s.violations(string(out))
	if n := strings.Count(string(out), "ibwitness: violation "); n != len(list) {
		t.Errorf("%s, bug %d: %d of %d violations are understood:\n%s", s.name, b.number, len(list), n, out)
		wrong = append(wrong, "NOT UNDERSTOOD")
	}
	for _, v := range list {
		switch {
		case v.accused == peer:
			t.Errorf("%s, bug %d: the peer, which has none, is accused:\n%s", s.name, b.number, out)
			wrong = append(wrong, "FALSE "+v.rule+" of the peer")
		case v.accused == device && first.rule == "":
			first = v
		}
	}
	switch {
	case rule == "" && first.rule != "":
		t.Errorf("%s: the device without a bug is accused:\n%s", s.name, out)
		wrong = append(wrong, "FALSE "+first.rule)
	case rule == "" && status != 0:
		t.Errorf("%s: the device without a bug, exit status %d:\n%s", s.name, status, out)
		wrong = append(wrong, fmt.Sprintf("FALSE exit status %d", status))
	case rule != "" && (first.rule != rule || status == 0):
		t.Errorf("%s, bug %d: %+v was told first, and %s should have been; exit status %d:\n%s", s.name, b.number, first, rule, status, out)
		wrong = append(wrong, "MISSED "+rule)
	case rule != "" && !first.inTime(stamps, b.when):
		t.Errorf("%s, bug %d: %+v is not the time of its frame:\n%s", s.name, b.number, first, out)
		wrong = append(wrong, "LATE")
	}
	shown := "clean"
	if first.rule != "" {
		shown = fmt.Sprintf("%s %d ns", first.rule, first.at)
	}
	return first, strings.Join(append([]string{shown}, wrong...), " ")
}

// checkedAgain reports whether check says of the recording of a run, with any number of workers, what the run has reported, byte for byte but for what is the name of a file there.
func (s *simulator) checkedAgain(ctx context.Context, t *testing.T, dir, place string) bool {
	live, err := os.ReadFile(filepath.Join(place, "run.json"))
	if err != nil || len(live) == 0 {
		t.Errorf("%s: no report of the run: %v", place, err)
		return false
	}
	names := strings.NewReplacer(`"file":"run.pcapng","interface":`, `"file":`, `"log":"run.a.jsonl"`, `"log":"a"`, `"log":"run.b.jsonl"`, `"log":"b"`)
	for _, workers := range []string{"1", "2", "8"} {
		check := exec.CommandContext(ctx, filepath.Join(dir, "ibwitness"), "check", "--quiet", "--workers", workers, "--format", "json", "run.pcapng", "--events", "run.a.jsonl", "--events", "run.b.jsonl")
		check.Dir = place
		var problems strings.Builder
		check.Stderr = &problems
		out, _ := check.Output() // its exit status tells of violations
		got, want := strings.Split(names.Replace(string(out)), "\n"), strings.Split(string(live), "\n")
		for i := range max(len(got), len(want)) {
			if i < len(got) && i < len(want) && got[i] == want[i] {
				continue
			}
			t.Errorf("%s, %s workers: %d lines of check, %d of the run; line %d:\n%s\n%s\n%s", place, workers, len(got), len(want), i+1, at(got, i), at(want, i), problems.String())
			return false
		}
	}
	return true
}

// at is a line, where there is one.
func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

// inTime reports whether a violation was told when it should be. stamps are the ends of the frames.
func (v told) inTime(stamps []int64, w when) bool {
	soon := func(at int64) bool { return at < v.at && v.at <= at+tick+cycle }
	ended := func(at int64) bool { return at <= v.at && v.at <= at+cycle }
	switch {
	case w == silent:
		return v.within > 0 && slices.ContainsFunc(stamps, func(at int64) bool { return soon(at + int64(v.within)) })
	case v.frame < 1 || v.frame > len(stamps):
		return false
	// Of the content of a READ no packet but the memory is at fault, so that RC-RSP-012 is told when time has gone on, with the next frame at the latest.
	case v.rule == "RC-RSP-012" && v.frame < len(stamps):
		return v.at > stamps[v.frame-1] && v.at <= stamps[v.frame]+cycle
	case w == later:
		return slices.ContainsFunc(stamps[v.frame:], ended)
	}
	return ended(stamps[v.frame-1])
}

func (s *simulator) violations(out string) (list []told) {
	for _, m := range s.line.FindAllStringSubmatch(out, -1) {
		at, _ := strconv.ParseInt(m[1], 10, 64)
		frame, _ := strconv.Atoi(m[4])
		v := told{at: at / s.scale, rule: m[2], accused: m[3], frame: frame}
		if w := deadline.FindStringSubmatch(m[0]); w != nil {
			v.within, _ = time.ParseDuration(w[1])
		}
		list = append(list, v)
	}
	return list
}

// frames are the times at which the frames of a capture of the bench have ended, in nanoseconds from the beginning of the simulation.
func frames(name string) (stamps []int64, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	const header, record, epoch = 24, 16, 1700000000
	for r := bytes.NewBuffer(text[min(header, len(text)):]); r.Len() >= record; {
		h := r.Next(record)
		seconds, ns := int64(binary.LittleEndian.Uint32(h)), int64(binary.LittleEndian.Uint32(h[4:]))
		stamps = append(stamps, (seconds-epoch)*int64(time.Second)+ns)
		r.Next(int(binary.LittleEndian.Uint32(h[8:])))
	}
	return stamps, nil
}

func environment(dir string) []string {
	return append(os.Environ(), "LD_LIBRARY_PATH="+dir, "IBWITNESS_CONFIG=", "CGO_ENABLED=1")
}

// run runs a program that compiles something.
func run(t *testing.T, dir string, command ...string) {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir, cmd.Env = dir, environment(dir)
	if out, err := cmd.CombinedOutput(); err != nil {
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

// sources are the files of the bench in SystemVerilog, with what attaches it.
func sources(t *testing.T, attach string) []string {
	t.Helper()
	list, err := os.ReadFile("roce_ca.files")
	if err != nil {
		t.Fatal(err)
	}
	files := strings.Fields(string(list))
	files = append(files, "bench/bench.sv", "bench/link.sv", "bench/tap.sv", "bench/attach/"+attach)
	for i, f := range files {
		files[i] = path(t, "examples/testbench/rtl/"+f)
	}
	return files
}

func plusargs(b bug) []string {
	return []string{fmt.Sprintf("+bug=%d", b.number), "+phases=" + b.phases}
}

func verilator(t *testing.T, dir string) *simulator {
	t.Helper()
	args := slices.Concat([]string{
		"verilator", "--binary", "--timing", "-j", "2", "--timescale", "1ns/1ns", "-Wno-fatal", "--top", "bench", "-Mdir", "obj", "-MAKEFLAGS", "OPT_FAST=-O0",
		"-LDFLAGS", "-L" + dir + " -libwitness", path(t, "examples/testbench/rtl/lint.vlt"), path(t, "attach/sv/ibwitness_pkg.sv"), path(t, "attach/sv/ibwitness_axis_monitor.sv"),
	}, sources(t, "dpi.sv"))
	run(t, dir, args...)
	return &simulator{
		name: "Verilator", pcap: "a.pcap", scale: 1, wants: systemVerilog, line: regexp.MustCompile(`\[(\d+)\] %Error: .*` + violation),
		command: func(b bug) []string { return append([]string{filepath.Join(dir, "obj", "Vbench")}, plusargs(b)...) },
	}
}

func icarus(t *testing.T, dir string) *simulator {
	t.Helper()
	run(t, dir, "gcc", "-shared", "-fPIC", "-I/usr/include/iverilog", "-o", "ibwitness.vpi", path(t, "attach/c/vpi.c"), "-L"+dir, "-libwitness")
	run(t, dir, append([]string{"iverilog", "-g2012", "-s", "bench", "-o", "bench.vvp", path(t, "attach/verilog/ibwitness_axis_monitor.v")}, sources(t, "vpi.sv")...)...)
	return &simulator{
		name: "Icarus", pcap: "a.pcap", scale: 1000, wants: systemVerilog, line: regexp.MustCompile(`\[(\d+) ps\] Error: .*` + violation),
		command: func(b bug) []string {
			return append([]string{"vvp", "-n", "-M" + dir, "-mibwitness", filepath.Join(dir, "bench.vvp")}, plusargs(b)...)
		},
	}
}

// replayed is a bench that plays frames, each in a beat.
func replayed(t *testing.T, dir string) *simulator {
	t.Helper()
	run(t, root, "go", "build", "-pgo=off", "-o", filepath.Join(dir, "frames"), "./examples/testbench/replay/frames")
	run(t, dir, "ghdl", "-a", "--std=08", path(t, "examples/testbench/replay/replay.vhd"))
	run(t, dir, "ghdl", "-e", "--std=08", "replay")
	return &simulator{
		name: "GHDL", pcap: "a.pcap", scale: 1, line: regexp.MustCompile(`:@(\d+)ns:\(report error\): .*` + violation),
		command: func(bug) []string {
			return []string{"ghdl", "-r", "--std=08", "--workdir=" + dir, "replay", "-gW=4096"}
		},
	}
}

func ghdl(t *testing.T, dir string) *simulator {
	t.Helper()
	args := []string{"ghdl", "-a", "--std=08", path(t, "attach/vhdl/ibwitness_pkg.vhd"), path(t, "attach/vhdl/ibwitness_axis_monitor.vhd")}
	for _, f := range []string{"roce_bytes.vhd", "roce_responder.vhd", "bench/responder_bench.vhd"} {
		args = append(args, path(t, "examples/testbench/rtl/"+f))
	}
	run(t, dir, args...)
	run(t, dir, "ghdl", "-e", "--std=08", "responder_bench")
	return &simulator{
		name: "GHDL", pcap: "responder.pcap", scale: 1, wants: vhdl, line: regexp.MustCompile(`:@(\d+)ns:\(report error\): .*` + violation),
		command: func(b bug) []string {
			return []string{"ghdl", "-r", "--std=08", "--workdir=" + dir, "responder_bench", fmt.Sprintf("-gBUG=%d", b.number)}
		},
	}
}
