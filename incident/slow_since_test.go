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

// slowSpace is Reads of two namespaces in turn, of which those of namespace 2 take 30 ms from the twentieth on; of so many commands the server's answer is
// not acknowledged, and retransmitted.
func slowSpace(unacknowledged int) []fabricagent.Frame {
	q := new(queue)
	for i := range 40 {
		for space := byte(1); space <= 2; space++ {
			q.now = (2*time.Duration(i) + time.Duration(space)) * 40 * time.Millisecond
			q.namespace = space
			q.command(nvmeRead, uint16(i)<<2|uint16(space))
			q.now += 300 * time.Microsecond
			if space == 2 && i >= 20 {
				q.now += 30 * time.Millisecond
			}
			q.response(uint16(i)<<2 | uint16(space))
			if space == 1 && i >= 20 && i < 20+unacknowledged {
				again := q.list[len(q.list)-2:]
				q.list = append(q.list[:len(q.list)-1], again[0], again[1])
				for k := range again {
					q.list[len(q.list)-2+k].Time += int64(5 * time.Millisecond)
				}
			}
		}
	}
	return q.list
}

// TestSlowSinceBeside: it is told, too, where others of the same opcode began in between, and where a few retransmissions, which cannot slow so many, are
// on the connection; not where there are more.
func TestSlowSinceBeside(t *testing.T) {
	const (
		what  = "NVMe Read on namespace 2 of 10.0.0.2 is slow from +1.640 s on, for 10.0.0.1, on the connection: 30.3ms in the mean of 20 commands, none less than "
		last  = "the last fast one was sent at +1.560 s, in frame 157; the first slow one in frame "
		clean = "and none was retransmitted: it is not the network"
		few   = "2 rounds of retransmission, told apart, cannot slow so many: it is not the network"
	)
	for _, k := range []struct {
		again int
		told  []string
		not   string
	}{
		{0, []string{what, last, clean}, "told apart"},
		{2, []string{what, last, few}, clean},
		{3, nil, "is slow from"},
	} {
		got := happened(t, slowSpace(k.again), agent.Options{Timing: true})
		for _, s := range k.told {
			if !strings.Contains(got, s) {
				t.Errorf("%d retransmissions: no %q:\n%s", k.again, s, got)
			}
		}
		if strings.Contains(got, k.not) {
			t.Errorf("%d retransmissions: %q:\n%s", k.again, k.not, got)
		}
	}
}
