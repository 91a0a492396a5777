package replay

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The monitors for cocotb judge as the others do, in cocotb and Icarus, with the Python that they are built for: all in a root of their own.
func TestCocotb(t *testing.T) {
	root := forky(t)
	dir := built(t, "unshare")
	work, err := os.MkdirTemp(filepath.Join(root, "tmp"), "cocotb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(work) })
	for _, name := range []string{
		filepath.Join(dir, "libibwitness.so"), path(t, "attach/python/ibwitness.py"), path(t, "attach/python/ibwitness_cocotb.py"),
		path(t, "examples/testbench/replay/replay_cocotb.py"), path(t, "examples/testbench/replay/ports.v"),
	} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(work, filepath.Base(name)), string(text))
	}
	write(t, filepath.Join(work, "run.sh"), `cd "$1" && export PATH=/usr/bin IBWITNESS_LIB="$1/libibwitness.so" PYTHONPATH="$1" PYTHONDONTWRITEBYTECODE=1 && iverilog -g2012 -s ports -o ports.vvp ports.v &&
PYGPI_PYTHON_BIN=/usr/bin/python3 LIBPYTHON_LOC=$(python3 -c 'import find_libpython; print(find_libpython.find_libpython())') TOPLEVEL_LANG=verilog COCOTB_TOPLEVEL=ports COCOTB_TEST_MODULES=replay_cocotb \
vvp -n -M "$(cocotb-config --lib-dir)" -m libcocotbvpi_icarus ports.vvp
`)
	s := &simulation{t: t, dir: work, plus: "+", ns: true, error: regexp.MustCompile(`(?m)^ *([0-9.]+)ns ERROR .* violation (\S+) `)}
	inside := strings.TrimPrefix(work, root)
	s.command = []string{"unshare", "-rR", root, "/bin/sh", filepath.Join(inside, "run.sh"), inside}
	run := func(name string, told []string, with ...string) {
		t.Helper()
		out, _ := s.run()
		var got []string
		for _, m := range s.error.FindAllStringSubmatch(out, -1) {
			got = append(got, m[1]+" "+m[2])
		}
		for _, w := range with {
			if !strings.Contains(out, w) {
				t.Errorf("%s: it should say %q", name, w)
			}
		}
		if !slices.Equal(got, told) || t.Failed() {
			t.Errorf("%s: %q were told, and %q should have been:\n%s", name, got, told, out)
		}
	}
	s.load(clean)
	run("clean", nil, "TESTS=2 PASS=2 FAIL=0")
	// Each error is told by the test that stops at it, and by the one that gathers them.
	s.load(odd)
	run("odd", []string{"15734.00 BTH-006", "31468.00 BTH-006"}, "TESTS=2 PASS=0 FAIL=2")
	s.load(play{from: silence.from[:1]})
	replay := filepath.Join(work, "replay.txt")
	text, err := os.ReadFile(replay)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	write(t, replay, strings.Join(lines[:9], ""))
	run("silence", []string{"548.00 BTH-012", "1096.00 BTH-012", "1176.00 BTH-012"}, "TESTS=2 PASS=0 FAIL=2")
	write(t, replay, strings.Join(lines[:7], ""))
	run("unanswered", nil, "TESTS=2 PASS=0 FAIL=2", "outstanding at the end of the test: [{")
}
