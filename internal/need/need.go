// Package need finds the programs and files that tests need.
package need

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// File returns the content of a file that make deps keeps in bin/tools. Where it is missing the test fails.
func File(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(tools(), name))
	if err != nil {
		t.Fatalf("%v: run make deps", err)
	}
	return string(b)
}

// tools is the folder in which make deps keeps things.
func tools() string {
	_, self, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(self), "..", "..", "bin", "tools")
}

// Program returns the path of a program, which make deps installs or keeps in bin/tools. Where it is missing the test fails.
func Program(t testing.TB, name string) string {
	t.Helper()
	for _, p := range []string{filepath.Join(tools(), name), name} {
		if p, err := exec.LookPath(p); err == nil {
			return p
		}
	}
	t.Fatalf("%s is not installed: run make deps", name)
	return ""
}
