package timing

import (
	"cmp"
	"slices"
)

// inOrder sorts a list by a time, and leaves what has the same time in its order. Each element is moved twice only, as a stable sort of slices moves it often.
func inOrder[T any](list []T, at func(*T) int64) {
	type key struct {
		at int64
		n  int
	}
	keys := make([]key, len(list))
	for n := range list {
		keys[n] = key{at(&list[n]), n}
	}
	slices.SortFunc(keys, func(a, b key) int {
		if a.at != b.at { // nearly always: cmp.Or would compare both
			return cmp.Compare(a.at, b.at)
		}
		return a.n - b.n
	})
	sorted := make([]T, len(list))
	for i, k := range keys {
		sorted[i] = list[k.n]
	}
	copy(list, sorted)
}
