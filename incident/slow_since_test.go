package incident_test

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
)

// TestSlowSince: where all commands of one opcode take long from a time on, and others do not, that is told with the last fast one and the first slow
// one; not where others are slow, too, one is fast later, there is none before, or none of another opcode.
func TestSlowSince(t *testing.T) {
	const ms = time.Millisecond
	slow := only(nvmeWrite, 30*ms)
	n := 0
	back := func(o byte) time.Duration { // but for one
		if n++; n == 30 || n == 31 || n == 32 {
			return 300 * time.Microsecond
		}
		return slow(o)
	}
	const what = "NVMe Write on namespace 1 of 10.0.0.2 is slow from +0.300 s on, " +
		"for 10.0.0.1, on the connection: 30ms in the mean of 20 commands, none less than "
	const rest = " before, at most 305µs; none of 81 others (NVMe Read) took longer than 305µs, before or since."
	for _, k := range []struct {
		name string
		list []fabricagent.Frame
		told bool
	}{
		{"writes", mixed(40, slow, nvmeWrite, nvmeRead, nvmeRead), true},
		{"all", mixed(40, func(byte) time.Duration { return 30 * ms }, nvmeWrite, nvmeRead, nvmeRead), false},
		{"one is fast later", mixed(40, back, nvmeWrite, nvmeRead, nvmeRead), false},
		{"few since", mixed(24, slow, nvmeWrite, nvmeRead, nvmeRead), false},
		{"no others", mixed(40, slow, nvmeWrite), false},
		{"none is slow", mixed(40, only(nvmeWrite, 300*time.Microsecond), nvmeWrite, nvmeRead, nvmeRead), false},
	} {
		got := happened(t, k.list, agent.Options{Timing: true})
		if told := strings.Contains(got, what) && strings.Contains(got, rest); told != k.told || !told && strings.Contains(got, "is slow from") {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}
