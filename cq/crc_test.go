package cq

import (
	"testing"

	"pgregory.net/rapid"
)

// TestJoin: the CRC of two pieces of data is that of both together.
func TestJoin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.SliceOf(rapid.Byte()).Draw(t, "a"), rapid.SliceOf(rapid.Byte()).Draw(t, "b")
		if got, want := join(sum(a), sum(b), uint64(len(b))), sum(append(a, b...)); got != want {
			t.Fatalf("%#x, want %#x", got, want)
		}
	})
}
