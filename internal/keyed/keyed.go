// Package keyed hashes what packets hold with keys that are drawn again in every run, so that nobody can choose packets whose entries collide in a table.
package keyed

import (
	"math/bits"
	"math/rand/v2"
)

var keys = draw()

// draw returns keys for one run.
func draw() (k [6]uint64) {
	for i := range k {
		k[i] = rand.Uint64()
	}
	return k
}

// fold multiplies two words and joins the halves of the product.
func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// Pair hashes two words. A single product spreads words of few bits badly under some keys; a second one, of its result, does not.
func Pair(a, b uint64) uint64 { return fold(fold(a^keys[0], b^keys[1])^keys[4], keys[5]|1) }

// Four hashes four words.
func Four(a, b, c, d uint64) uint64 {
	return fold(fold(a^keys[0], b^keys[1])^fold(c^keys[2], d^keys[3])^keys[4], keys[5]|1)
}
