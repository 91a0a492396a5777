package small_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ibwitness/internal/small"
)

// TestReadFile reads what is short enough and refuses what is longer, or endless.
func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, 2048), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := small.ReadFile(path, 2048); err != nil || len(b) != 2048 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	for _, name := range []string{path, "/dev/zero"} {
		if _, err := small.ReadFile(name, 2047); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
