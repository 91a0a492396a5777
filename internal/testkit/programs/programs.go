// Package programs finds the programs and files that tests need.
package programs

import (
	"os"
	"os/exec"
	"path/filepath"
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

// module is the folder of the module: tests begin in that of their package, which is below it.
var module = func() string {
	dir, _ := os.Getwd()
	for up := dir; ; up = filepath.Dir(up) {
		if _, err := os.Stat(filepath.Join(up, "go.mod")); err == nil {
			return up
		}
		if up == filepath.Dir(up) {
			return dir
		}
	}
}()

// tools is the folder in which make deps keeps things.
func tools() string { return filepath.Join(module, "bin", "tools") }

// Find returns the path of a program, which make deps installs or keeps in bin/tools. Where it is missing the test fails.
func Find(t testing.TB, name string) string {
	t.Helper()
	p := path(name)
	if p == "" {
		t.Fatalf("%s is not installed: run make deps", name)
	}
	return p
}

// Need returns the path of a program, or of the file that a pattern finds. Where it is missing the test is skipped, and in continuous integration fails.
func Need(t testing.TB, name string) string {
	t.Helper()
	p := path(name)
	switch {
	case p != "":
	case os.Getenv("CI") != "":
		t.Fatalf("%s is not installed: run make deps", name)
	default:
		t.Skipf("%s is not installed, so that nothing of it is tested: run make deps", name)
	}
	return p
}

// path is where a program is, or the file that a pattern finds, which make deps installs or keeps in bin/tools; empty: nowhere.
func path(name string) string {
	if filepath.IsAbs(name) {
		if list, _ := filepath.Glob(name); len(list) > 0 {
			return list[0]
		}
		return ""
	}
	for _, p := range []string{filepath.Join(tools(), name), name, filepath.Join("/usr/sbin", name)} { // who is not root may not have /usr/sbin in its path
		if p, err := exec.LookPath(p); err == nil {
			return p
		}
	}
	return ""
}
