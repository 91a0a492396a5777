//go:build !verbs || !cgo || !linux

package verbs

import (
	"errors"
	"strings"
	"testing"
)

// TestUnlinked: a program without libibverbs says how to get one that has it.
func TestUnlinked(t *testing.T) {
	if _, err := Open("rxe0", nil); !errors.Is(err, ErrUnlinked) || !strings.Contains(err.Error(), "make verbs") {
		t.Error(err)
	}
	if _, err := List(); !errors.Is(err, ErrUnlinked) {
		t.Error(err)
	}
}
