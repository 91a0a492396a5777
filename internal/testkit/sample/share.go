package sample

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// Share ends a test that takes minutes of a processor in continuous integration, unless it is the turn of the n-th of so many such tests: which, the commit says, as for the fuzz targets of the
// Makefile. Elsewhere they all run.
func Share(t testing.TB, n, of uint64) {
	t.Helper()
	if os.Getenv("CI") == "" {
		return
	}
	commit, err := exec.Command("git", "rev-parse", "--short=4", "HEAD").Output()
	if err != nil {
		return // nobody can tell whose turn it is
	}
	if k, err := strconv.ParseUint(strings.TrimSpace(string(commit)), 16, 64); err == nil && k%of != n%of {
		t.Skipf("it takes long: continuous integration runs one of %d such tests for each commit, and make test outside of it all", of)
	}
}
