package incident

import (
	"testing"
	"time"

	"ibwitness/agent"
)

// TestNotOf: of commands that are late on one target, it is told which opcodes never were, over all connections; nothing where none was spared.
func TestNotOf(t *testing.T) {
	var l lateCommands
	for range 2 {
		l.spare(&agent.Class{Name: "NVMe Read", Answers: 600, Longest: 180 * time.Microsecond})
	}
	if got, want := l.notOf(), "; 1,200 NVMe Read, whatever they work on, took at most 180µs"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := (&lateCommands{}).notOf(); got != "" {
		t.Errorf("%q, where none was spared", got)
	}
}
