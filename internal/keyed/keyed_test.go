package keyed

import (
	"math/rand/v2"
	"testing"
)

// TestSpread puts keys that follow each other, or differ in one word, into as many slots as there are keys, under many keys of the run: by chance 37 of 100 slots stay empty, and none has a dozen.
func TestSpread(t *testing.T) {
	own := keys
	defer func() { keys = own }()
	const n, runs = 1 << 14, 400
	source := rand.New(rand.NewPCG(1, 2))
	for name, hash := range map[string]func(i uint64) uint64{
		"pair, first":        func(i uint64) uint64 { return Pair(i, 0) },
		"pair, shifted":      func(i uint64) uint64 { return Pair(i<<24, 0) },
		"pair, second":       func(i uint64) uint64 { return Pair(7, i) },
		"four, top bits":     func(i uint64) uint64 { return Four(i, 1, 2, 3) >> 48 },
		"four, third":        func(i uint64) uint64 { return Four(0xa0000, 0xa0001, i, 0) >> 48 },
		"four, same in pair": func(i uint64) uint64 { return Four(i, i, i, i) >> 48 },
	} {
		for run := range runs {
			for i := range keys {
				keys[i] = source.Uint64()
			}
			used, most, empty := [n]uint8{}, uint8(0), n
			for i := range uint64(n) {
				k := hash(i) % n
				if used[k]++; used[k] == 1 {
					empty--
				}
				most = max(most, used[k])
			}
			if empty > n*2/5 || most > 20 {
				t.Fatalf("%s, keys %d (%x): %d of %d slots are empty, one has %d keys", name, run, keys, empty, n, most)
			}
		}
	}
}
