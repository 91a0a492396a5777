package attach_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPython: the module in Python does what the library does.
func TestPython(t *testing.T) {
	dir, err := library()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("python3", "-B", "-m", "unittest", "-v")
	cmd.Dir = "python"
	cmd.Env = append(os.Environ(), "IBWITNESS_LIB="+filepath.Join(dir, "libibwitness.so"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestInstalled: pip installs the modules into an environment of their own, without a network and without packages that Python does not have, and they do what they did.
func TestInstalled(t *testing.T) {
	lib, err := library()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "source") // pip writes beside what it builds
	if err := os.CopyFS(source, os.DirFS("python")); err != nil {
		t.Fatal(err)
	}
	venv := filepath.Join(dir, "venv")
	python := filepath.Join(venv, "bin", "python")
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PYTHONPATH=", "PIP_NO_CACHE_DIR=1", "IBWITNESS_LIB="+filepath.Join(lib, "libibwitness.so"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v\n%s", append([]string{name}, args...), err, out)
		}
		return string(out)
	}
	run("python3", "-m", "venv", venv)
	run(python, "-m", "pip", "install", "--no-index", "--disable-pip-version-check", source)
	if got := run(python, "-c", "import ibwitness; run = ibwitness.Run(); print(ibwitness.__file__, run.end(1000))"); !strings.HasPrefix(got, venv) || !strings.HasSuffix(got, " []\n") {
		t.Errorf("the module and what an empty run finds: %s", got)
	}
	if list := run(python, "-m", "pip", "show", "-f", "ibwitness"); !strings.Contains(list, "  ibwitness.py\n") || !strings.Contains(list, "  ibwitness_cocotb.py\n") {
		t.Errorf("pip has installed\n%s", list)
	}
}
