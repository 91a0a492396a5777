package incident_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/incident"
	"ibwitness/packet"
)

// TestAttempts: a request that was given up, and sent by another queue pair with the same PSN, is told as so many attempts, and the QPN at which that was answered in the end; not
// one that only the timer retransmitted.
func TestAttempts(t *testing.T) {
	const scene = `
about: a connection that nothing answers, and another after it
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {timeout: 12, retry_cnt: 3}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}, a3: {hca: a, peer: b3}, b3: {hca: b, peer: a3}}
work:
  - {qp: a3, op: write, length: 100, repeat: 90, every: 20ms}
  - {qp: a1, op: write, length: 100, at: 400ms}
  - {qp: a2, op: write, length: 100, at: 1250ms, repeat: 9, every: 10ms}
taps: [middle]
errors:
  - {do: drop, from: a, psn: 0x100000, count: all, where: after}
`
	list := frames(t, scene)
	more := slices.Clone(list)
	for k := range list {
		var p packet.Packet
		if packet.DecodeIP(&p, list[k].Data[14:], int(list[k].Len)-14); p.PSN != 0x100000 || p.Src.String() != "10.1.0.1" {
			continue
		}
		for n := range 2 {
			f := list[k]
			f.Data = slices.Clone(f.Data)
			f.Time += int64(n+1) * int64(350*time.Millisecond)
			changed(&f, func(p *packet.Packet) { p.SrcPort += uint16(n + 1) })
			more = append(more, f)
		}
	}
	slices.SortStableFunc(more, func(a, b fabricagent.Frame) int { return int(a.Time - b.Time) })
	for k := range more {
		more[k].Number = uint64(k + 1)
	}
	for _, k := range []struct {
		frames   []fabricagent.Frame
		attempts bool
	}{{more, true}, {list, false}} {
		r := judged(t, k.frames, agent.Options{})
		got := toldOf(r)
		if strings.Contains(got, "12 times in ") != k.attempts || strings.Contains(got, ", in 3 attempts; ") != k.attempts ||
			strings.Contains(got, "3 retries in each of 3 attempts") != k.attempts || strings.Contains(got, "after 3 retries: it seems") == k.attempts {
			t.Errorf("in attempts %t: %s", k.attempts, got)
		}
		if fits := incident.Of(r)[0].FitsWith[0]; !strings.HasPrefix(fits, "a stale or wrong destination QPN: 10.1.0.2 answers at QP 0x") {
			t.Errorf("in attempts %t: fits %s", k.attempts, fits)
		}
		for _, f := range r.Findings {
			if f.Rule.String() == "ROC-V2-018" {
				t.Errorf("frame %d: %v", f.Frame, f.Rule)
			}
		}
	}
}
