package cli

import (
	"os"
	"testing"
)

// alone skips a test that others would disturb, in CI, where make unit runs it alone.
func alone(t *testing.T) {
	if os.Getenv("CI") != "" && os.Getenv("IBWITNESS_ALONE") == "" {
		t.Skip("it needs the machine for itself: make unit runs it alone")
	}
}
