package rtl

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	tapsOfA = `{"name": "a.rx", "near": "10.0.0.1"}, {"name": "a.tx", "near": "10.0.0.1"}`
	tapsOfB = `{"name": "b.rx", "near": "10.0.0.2"}, {"name": "b.tx", "near": "10.0.0.2"}`
)

// With eight taps and three runs in one simulation, each run is as if there were no other: the report of the run near a device is, byte for byte, that of a simulation with this run only.
// Each names the device that is at fault, and so does the run that is near both, which tells nothing that none of the others does.
func TestBothEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("compiling takes long")
	}
	for _, p := range []string{"iverilog", "vvp", "gcc"} {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("%s is not installed, so that nothing is tested: make deps installs it", p)
		}
	}
	dir := t.TempDir()
	run(t, root, "go", "build", "-buildmode=c-shared", "-o", filepath.Join(dir, "libibwitness.so"), "./cmd/libibwitness")
	run(t, dir, "gcc", "-shared", "-fPIC", "-I/usr/include/iverilog", "-o", "ibwitness.vpi", path(t, "attach/c/vpi.c"), "-L"+dir, "-libwitness")
	for _, attach := range []string{"both", "vpi"} {
		run(t, dir, append([]string{"iverilog", "-g2012", "-s", "bench", "-o", attach + ".vvp", path(t, "attach/verilog/ibwitness_axis_monitor.v")}, sources(t, attach+".sv")...)...)
	}
	config := func(name, taps, report string) {
		text := fmt.Sprintf(`{"taps": [%s], "hcas": [{"name": "a", "gid": "10.0.0.1"}, {"name": "b", "gid": "10.0.0.2"}], "reports": {"json": %q}}`, taps, report)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config("both.json", tapsOfA+", "+tapsOfB, "both.jsonl")
	config("a.json", tapsOfA, "of_a.jsonl")
	config("b.json", tapsOfB, "of_b.jsonl")
	config("ibw.json", tapsOfA, "alone.jsonl")
	simulate := func(attach string, args ...string) string {
		t.Helper()
		cmd := exec.Command("vvp", append([]string{"-n", "-M" + dir, "-mibwitness", attach + ".vvp"}, args...)...)
		cmd.Dir, cmd.Env = dir, environment(dir)
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	report := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	rules := func(out, from string) (list []string) {
		for _, line := range strings.Split(out, "\n") {
			_, what, ok := strings.Cut(line, "bench.u_attach."+from)
			if _, what, found := strings.Cut(what, "ibwitness: violation "); ok && found {
				rule, _, _ := strings.Cut(what, " ")
				list = append(list, rule)
			}
		}
		slices.Sort(list)
		return slices.Compact(list)
	}
	for _, c := range []struct {
		option, number, phases, guilty, innocent string
	}{
		{"bug", "0", "3f", "", ""},
		{"bug", "2", "1", device, peer},
		{"bug", "6", "4", device, peer},
		{"peer_bug", "2", "1", peer, device},
	} {
		options := []string{"+" + c.option + "=" + c.number, "+phases=" + c.phases}
		name := strings.Join(options, " ")
		out := simulate("both", options...)
		told := strings.Count(out, "ibwitness: violation ")
		if c.guilty == "" && (told > 0 || strings.Contains(out, "ibwitness:")) || c.guilty != "" && told == 0 {
			t.Errorf("%s: %d violations are told:\n%s", name, told, out)
		}
		for _, line := range strings.Split(out, "\n") {
			if _, what, ok := strings.Cut(line, "ibwitness: violation "); ok {
				accused, _, _ := strings.Cut(what, ":")
				if !strings.Contains(accused, c.guilty+" QP") {
					t.Errorf("%s: %s", name, line)
				}
			}
		}
		own := append(rules(out, "a_"), rules(out, "b_")...)
		for _, rule := range rules(out, "both_") {
			if !slices.Contains(own, rule) {
				t.Errorf("%s: only the run that is near both tells %s", name, rule)
			}
		}
		simulate("vpi", options...)
		if of, alone := report("of_a.jsonl"), report("alone.jsonl"); of != alone {
			t.Errorf("%s: the run near a reports\n%s\nand by itself\n%s", name, of, alone)
		}
	}
}
