package attach_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ibwitness/internal/testkit/traffic"
)

// TestArchive: the static library, in a program and in a shared object, does what the shared library does.
func TestArchive(t *testing.T) {
	dir := t.TempDir()
	run := func(name string, args ...string) {
		t.Helper()
		if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
	}
	archive, program, object := filepath.Join(dir, "libibwitness.a"), filepath.Join(dir, "leave"), filepath.Join(dir, "libtestbench.so")
	run("go", "build", "-buildmode=c-archive", "-o", archive, "../cmd/libibwitness")
	run("gcc", "-D_GNU_SOURCE", "-I", "c", "-o", program, "c/testdata/leave.c", archive, "-lpthread")
	run("gcc", "-shared", "-o", object, "-Wl,-z,nodelete", "-Wl,--whole-archive", archive, "-Wl,--no-whole-archive", "-lpthread")
	report := filepath.Join(dir, "report.json")
	cmd := exec.Command(program, "return", report)
	frame := traffic.Capture(traffic.Small(1), 1)[24+16:]
	frame[14+20+8+1] |= 3 // TVer of the BTH
	cmd.Stdin = bytes.NewReader(frame)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if text, err := os.ReadFile(report); err != nil || !strings.Contains(string(text), `"rule":"BTH-002"`) {
		t.Errorf("%v: %s", err, text)
	}
	cmd = exec.Command("python3", "-B", "-m", "unittest")
	cmd.Dir = "python"
	cmd.Env = append(os.Environ(), "IBWITNESS_LIB="+object)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("in a shared object: %v\n%s", err, out)
	}
}
