package agent

import (
	"testing"
	"time"

	"ibwitness/timing"
)

// TestSlowCommand: a command is slow that takes a second, or 100 ms and a hundred times as long as the others; not among few, where others take long too, or where those of its opcode or procedure are few or do.
func TestSlowCommand(t *testing.T) {
	const usual = 100 * time.Microsecond
	tests := []struct {
		name     string
		took     time.Duration // of the slowest
		others   time.Duration // of each other
		answers  uint64
		alike    uint64        // of its opcode or procedure; 0: these are not known
		itsOwn   time.Duration // of each other of these
		slow     uint64
		expected bool
	}{
		{"far longer", 400 * time.Millisecond, usual, 300, 100, usual, 0, true},
		{"opcodes are not known", 400 * time.Millisecond, usual, 300, 0, 0, 0, true},
		{"a second, of few", time.Second, usual, 2, 1, usual, 1, true},
		{"short", 90 * time.Millisecond, usual, 300, 100, usual, 0, false},
		{"of few", 400 * time.Millisecond, usual, 30, 20, usual, 0, false},
		{"others take long", 400 * time.Millisecond, 5 * time.Millisecond, 300, 100, usual, 0, false},
		{"few like it", 400 * time.Millisecond, usual, 300, 3, usual, 0, false},
		{"these take long", 400 * time.Millisecond, usual, 300, 20, 50 * time.Millisecond, 0, false},
	}
	for _, tt := range tests {
		slowest := &Operation{Since: 5, Ended: 5 + int64(tt.took)}
		u := &Upper{Protocol: nvme, Answers: tt.answers, Slow: tt.slow, Took: tt.took + time.Duration(tt.answers-1)*tt.others, Slowest: slowest, Longest: []*Operation{slowest}}
		if tt.alike > 0 {
			u.Classes = []Class{{Answers: tt.alike, Took: tt.took + time.Duration(tt.alike-1)*tt.itsOwn, Longest: tt.took}}
		}
		if got := (&Connection{Upper: u}).SlowCommands(); (len(got) == 1) != tt.expected {
			t.Errorf("%s: %d", tt.name, len(got))
		}
	}
	slowest := &Operation{Ended: int64(400 * time.Millisecond)}
	if len((&Connection{Upper: &Upper{Protocol: "RPC over RDMA", Answers: 300, Slowest: slowest, Longest: []*Operation{slowest}}}).SlowCommands()) > 0 {
		t.Error("another protocol")
	}
	if len((&Connection{}).SlowCommands())+len((&Connection{Upper: &Upper{}}).SlowCommands()) > 0 {
		t.Error("no command")
	}
}

// TestSlowCommands: of the commands that took longest those are slow that took far longer than all but those that took even longer.
func TestSlowCommands(t *testing.T) {
	const usual = 100 * time.Microsecond
	for _, tt := range []struct {
		name string
		took []time.Duration
		slow int
	}{
		{"two of three", []time.Duration{574 * time.Millisecond, 463 * time.Millisecond, 3 * time.Millisecond}, 2},
		{"four", []time.Duration{900 * time.Millisecond, 800 * time.Millisecond, 700 * time.Millisecond, 110 * time.Millisecond}, 4},
		{"one", []time.Duration{200 * time.Millisecond, 99 * time.Millisecond}, 1},
	} {
		u := &Upper{Protocol: nvme, Answers: 300, Took: 300 * usual}
		for _, d := range tt.took {
			u.Longest, u.Took = append(u.Longest, &Operation{Ended: int64(d)}), u.Took+d
		}
		u.Slowest = u.Longest[0]
		u.Classes = []Class{{Answers: 300, Took: u.Took, Longest: tt.took[0]}}
		c := &Connection{Upper: u, Timing: &timing.Connection{Commands: new(timing.Waits)}}
		for range 300 {
			c.Timing.Commands.Latency.Observe(usual)
		}
		if got := len(c.SlowCommands()); got != tt.slow {
			t.Errorf("%s: %d", tt.name, got)
		}
	}
}
