package message

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
		if got := apart(sum(a), sum(append(a, b...)), uint64(len(b))); got != sum(b) {
			t.Fatalf("second only: %#x, want %#x", got, sum(b))
		}
	})
}

// TestJoined: the CRC of pieces, some of which follow the one before, is that of all together.
func TestJoined(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all, run []byte
		j := joined{}
		for i, p := range rapid.SliceOf(rapid.SliceOf(rapid.Byte())).Draw(t, "pieces") {
			follows := i > 0 && rapid.Bool().Draw(t, "follows")
			if !follows {
				run = nil
			}
			all, run = append(all, p...), append(run, p...)
			j.add(sum(run), uint32(len(p)), follows)
		}
		if got, want := j.sum(), sum(all); got != want {
			t.Fatalf("%#x, want %#x", got, want)
		}
	})
}
