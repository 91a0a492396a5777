package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/incident"
	"ibwitness/packet"
	"ibwitness/verifier/cm"
)

// TestNextNotUp: a connection that the hosts asked for after one that nothing answered, and whose REPs no RTU ends, is told not to have come up, which speaks for the path and not for one queue pair; not where packets came on it.
func TestNextNotUp(t *testing.T) {
	const scene = `
about: a connection that nothing answers any more, and another after it
hcas: {a: 10.1.0.1, b: 10.1.0.2, c: 10.1.0.3}
attributes: {timeout: 12, retry_cnt: 3}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a3: {hca: a, peer: c3}, c3: {hca: c, peer: a3}}
work:
  - {qp: a3, op: write, length: 100, repeat: 60, every: 20ms}
  - {qp: b1, op: write, length: 100, at: 1ms}
  - {qp: a1, op: write, length: 100, at: 5ms}
taps: [middle]
errors:
  - {do: drop, from: a, to: b, psn: 0x100000, count: all, where: after}
`
	const notUp = "then: 10.1.0.2 asked 10.1.0.1 for a connection again 500ms later: it does not come up either: 10.1.0.1 answered (REP) 3 times, first in frame 900, and no RTU of 10.1.0.2 is in the capture"
	const way, another = "so: it seems to be the path from 10.1.0.1 to 10.1.0.2, or 10.1.0.2 itself, and not one queue pair", "the same hosts began another connection"
	a, b := packet.IPv4Addr([]byte{10, 1, 0, 1}), packet.IPv4Addr([]byte{10, 1, 0, 2})
	for _, tt := range []struct {
		name    string
		packets uint64
		rep     bool
		up      bool
	}{{"no RTU", 0, true, false}, {"packets came", 9, true, true}, {"an RTU came", 0, false, true}} {
		r := judged(t, frames(t, scene), agent.Options{})
		var last int64
		for _, c := range r.Connections {
			for k := range c.Ends {
				if e := &c.Ends[k]; e.Stalled {
					last = max(e.Trouble.Now.Last, last)
				}
			}
		}
		next := agent.Connection{First: last + 5e8, FirstFrame: 900, PairedBy: agent.ByCM, Service: packet.RC}
		next.Ends[0] = agent.End{Addr: b, QPN: 0x31, QPNKnown: true, Packets: tt.packets, Last: last + 6e8}
		next.Ends[1] = agent.End{Addr: a, QPN: 0x32, QPNKnown: true, Packets: tt.packets, Last: last + 6e8}
		r.Connections = append(r.Connections, next)
		if tt.rep {
			r.REQs = append(r.REQs, cm.Unanswered{Waits: cm.ForRTU, From: a, To: b, QPN: 0x32, Times: 3, First: last + 5e8, Last: last + 7e8, Frame: 950})
		}
		got := ""
		for _, i := range incident.Of(r) {
			if i.Kind == incident.Unanswered || i.Kind == incident.NeverAnswered {
				for _, f := range i.Facts {
					got += f.Label + ": " + f.Text + "\n"
				}
			}
		}
		if strings.Contains(got, another) != tt.up || strings.Contains(got, notUp) == tt.up || strings.Contains(got, way) == tt.up {
			t.Errorf("%s: %s", tt.name, got)
		}
	}
}
