// Package named finds entries of a table by their names.
package named

import (
	"fmt"
	"slices"
	"strings"
)

// Each calls found with each entry of a table that has one of the names, in their order. The error wraps none, and says which names there are.
func Each[T any](names []string, table []T, name func(T) string, none error, found func(T)) error {
	for _, want := range names {
		i := slices.IndexFunc(table, func(t T) bool { return name(t) == want })
		if i < 0 {
			all := make([]string, len(table))
			for i, t := range table {
				all[i] = name(t)
			}
			return fmt.Errorf("%w: %q; give one of %s", none, want, strings.Join(all, ", "))
		}
		found(table[i])
	}
	return nil
}
