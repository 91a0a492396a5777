// Package sample has tests that take many seeds, scenarios or captures take a part of them with go test -short, as make quick does.
package sample

import "testing"

// Stride is how far apart those are that a test takes: n with -short, else 1.
func Stride(n int) int {
	if testing.Short() {
		return n
	}
	return 1
}

// Part is the n-th part of so many with -short, at least one, else all.
func Part(all, n int) int { return max(all/Stride(n), min(all, 1)) }

// Skip ends a test that makes no sense of less, with -short.
func Skip(t testing.TB, why string) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: " + why)
	}
}
