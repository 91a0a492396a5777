// Package need finds the programs that tests need.
package need

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// Program returns the path of a program, which make deps installs or keeps in bin/tools. Where it is missing the test fails.
func Program(t testing.TB, name string) string {
	t.Helper()
	_, self, _, _ := runtime.Caller(0)
	for _, p := range []string{filepath.Join(filepath.Dir(self), "..", "..", "bin", "tools", name), name} {
		if p, err := exec.LookPath(p); err == nil {
			return p
		}
	}
	t.Fatalf("%s is not installed: run make deps", name)
	return ""
}
