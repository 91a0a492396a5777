package incident_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
)

// TestCommandInSilence: a command is not slow by itself where its server sent nothing on any connection meanwhile, and left a request on another
// one without an answer for as long; it is where that had its answer.
func TestCommandInSilence(t *testing.T) {
	const scene = `
about: a WRITE beside commands
hcas: {a: 10.0.0.1, b: 10.0.0.2}
attributes: {timeout: 12, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
taps: [middle]
work:
  - {qp: a1, op: write, length: 100, repeat: 6, every: 10ms}
`
	const lost, took = "errors:\n  - {do: drop, from: a, psn: 0x100005, count: 3, where: after}\n", 3 * time.Second
	n := 0
	commands := mixed(50, func(o byte) time.Duration {
		if n++; o == nvmeRead && n == 41 {
			return took
		}
		return 300 * time.Microsecond
	}, nvmeRead, nvmeWrite)
	asked := 0
	for k := range commands[1:] {
		if commands[k+1].Time-commands[k].Time > commands[asked+1].Time-commands[asked].Time {
			asked = k
		}
	}
	for errors, silent := range map[string]bool{lost: true, "": false} {
		beside := frames(t, scene+errors)
		shift := commands[asked].Time + int64(10*time.Millisecond) - beside[10].Time
		for k := range beside {
			beside[k].Time += shift
		}
		if silent {
			beside[len(beside)-1].Time = commands[asked+1].Time - int64(5*time.Millisecond)
		}
		list := slices.Concat(commands, beside)
		slices.SortStableFunc(list, func(a, b fabricagent.Frame) int { return int(a.Time - b.Time) })
		got := happened(t, list, agent.Options{Timing: true})
		if strings.Contains(got, "silent: 10.0.0.2 sent nothing on any connection for 2.9") != silent ||
			strings.Contains(got, "took 3s to answer NVMe Read") == silent {
			t.Errorf("%q: %s", errors, got)
		}
	}
}
