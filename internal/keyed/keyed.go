// Package keyed hashes what packets hold with keys that are drawn anew in every run, so that nobody can choose packets whose entries collide in a table.
package keyed

import (
	"math/bits"
	"math/rand/v2"
)

var keys = [4]uint64{rand.Uint64() | 1, rand.Uint64() | 1, rand.Uint64() | 1, rand.Uint64() | 1}

// Pair hashes two words.
func Pair(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^keys[0], b^keys[1])
	return hi ^ lo
}

// Four hashes four words.
func Four(a, b, c, d uint64) uint64 {
	hi, lo := bits.Mul64(a^keys[0], b^keys[1])
	hi2, lo2 := bits.Mul64(c^keys[2], d^keys[3])
	return hi ^ lo ^ hi2 ^ lo2
}
