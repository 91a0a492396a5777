//go:build race

package scenario

// A scenario takes ten times as long under the race detector: a few are run there, and all without it.
const (
	raced     = true
	usualRuns = 20
)
