package cli

import (
	"os"
	"testing"
)

// undisturbed skips a test that others would disturb, in CI, where make unit runs it after them.
func undisturbed(t *testing.T) {
	if os.Getenv("CI") != "" && os.Getenv("IBWITNESS_UNDISTURBED") == "" {
		t.Skip("it needs the whole machine: make unit runs it after the others")
	}
}
