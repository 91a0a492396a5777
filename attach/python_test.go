package attach_test

import (
	"os"
	"os/exec"
	"path/filepath"
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
