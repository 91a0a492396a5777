package incident_test

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
)

// TestRareCommand: a command that took far longer than the others is told though it took less than a second; not one that took not as long.
func TestRareCommand(t *testing.T) {
	for took, want := range map[time.Duration]string{
		430 * time.Millisecond: "command-slow (proven): 10.0.0.2 QP 0x20 took 430ms to answer NVMe Read, command id 80, namespace 1 of 10.0.0.1 QP 0x1f.",
		30 * time.Millisecond:  "",
	} {
		n := 0
		got := happened(t, mixed(50, func(o byte) time.Duration {
			if n++; o == nvmeRead && n == 41 {
				return took
			}
			return 300 * time.Microsecond
		}, nvmeRead, nvmeWrite), agent.Options{})
		if !strings.Contains(got, want) || want == "" && strings.Contains(got, "command-slow") {
			t.Errorf("%v: %s", took, got)
		}
	}
}
