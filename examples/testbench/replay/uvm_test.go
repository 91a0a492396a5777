package replay

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ibwitness/internal/testkit/sample"
)

// forky is the folder with what examples/testbench/forky.sh unpacks.
func forky(t *testing.T) string {
	t.Helper()
	dir := path(t, "bin/tools/forky")
	if _, err := os.Stat(filepath.Join(dir, "complete")); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("UVM and cocotb are not there: make forky unpacks them")
		}
		t.Skip("UVM and cocotb are not there, so that nothing of them is tested: make forky unpacks them")
	}
	return dir
}

// withoutRegisters copies UVM without its register layer, which nothing uses here, and which would take two of five minutes to compile.
func withoutRegisters(t *testing.T, dir, from string) string {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	before, layer, found := strings.Cut(string(text), "typedef class uvm_reg_field;\n")
	_, after, ended := strings.Cut(layer, "endclass: uvm_reg_mem_hdl_paths_seq\n")
	if !found || !ended {
		t.Fatalf("%s has no register layer from uvm_reg_field to uvm_reg_mem_hdl_paths_seq", from)
	}
	to := filepath.Join(dir, "uvm_pkg.sv")
	write(t, to, before+after)
	return to
}

// The UVM package judges as the monitors do, in the UVM of Accellera, and its errors are waived and counted by the usual means.
func TestUVM(t *testing.T) {
	if testing.Short() {
		t.Skip("compiling takes long")
	}
	sample.Share(t, 0, 2)
	from := forky(t)
	dir := built(t, "g++", "make", "python3")
	lib := filepath.Join(from, "usr/lib/x86_64-linux-gnu")
	t.Setenv("VERILATOR_ROOT", filepath.Join(from, "usr/share/verilator"))
	s := &simulation{t: t, dir: t.TempDir(), plus: "+", error: regexp.MustCompile(`UVM_ERROR .* @ (\d+): uvm_test_top\.ibwitness \[(\S+)\] `)}
	uvm := filepath.Join(from, "uvm")
	compile(t, s.dir, filepath.Join(lib, "ld-linux-x86-64.so.2"), "--library-path", lib, filepath.Join(from, "usr/bin/verilator_bin"), "--binary", "--timing", "--vpi", "-j", "2",
		"--timescale", "1ns/1ps", "-Wno-lint", "-Wno-style", "-Wno-TIMESCALEMOD", "-Wno-SYMRSVDWORD", "-Mdir", "obj", "-MAKEFLAGS", "OPT_FAST=-O0", "-MAKEFLAGS", "OPT_SLOW=-O0",
		"-MAKEFLAGS", "OPT_GLOBAL=-O0", "-LDFLAGS", "-L"+dir+" -libwitness", "+incdir+"+uvm, "--top", "replay", withoutRegisters(t, s.dir, filepath.Join(uvm, "uvm_pkg_all_v2020_3_1_dpi.svh")),
		path(t, "attach/sv/ibwitness_pkg.sv"), path(t, "attach/sv/ibwitness_axis_if.sv"), path(t, "attach/sv/ibwitness_uvm_pkg.sv"),
		path(t, "examples/testbench/replay/replay_uvm.sv"), filepath.Join(uvm, "v2020_3_1/dpi/uvm_dpi.cc"))
	s.command = []string{filepath.Join(s.dir, "obj", "Vreplay"), "+UVM_NO_RELNOTES"}
	says := func(status int, told []string, with string, options ...string) {
		t.Helper()
		out, got := s.run(options...)
		list := s.errors(out)
		if strings.Join(list, ", ") != strings.Join(told, ", ") || got != status || !strings.Contains(out, with) {
			t.Errorf("%q: exit status %d, %q were told, and it should be %d, %q, and %q:\n%s", options, got, list, status, told, with, out)
		}
	}
	s.load(clean)
	says(0, nil, "[IBWITNESS] 24 frames, 0 errors, 0 warnings")
	s.load(odd)
	says(1, odd.told, "[IBWITNESS] 26 frames, 1 errors, 0 warnings")
	says(0, nil, "[BTH-006]     1\n", "waive=BTH-006")
	// What is not answered is an error of its own at the end, but where the simulation was stopped.
	s.load(play{from: silence.from[:1]})
	name := filepath.Join(s.dir, "replay.txt")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	write(t, name, strings.Join(strings.SplitAfter(string(text), "\n")[:9], ""))
	says(1, []string{"413000 BTH-012", "479000 BTH-012", "488000 IBW-OUTSTANDING"}, `"what":"a response"`)
	says(1, []string{"413000 BTH-012"}, "Quit count reached!", "UVM_MAX_QUIT_COUNT=1")
}
