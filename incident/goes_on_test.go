package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/incident"
)

// TestOneOfSeveral: where nothing answers one queue pair while others between the same hosts go on, with other UDP source ports, one path of several fits first; not where the others stop, too.
func TestOneOfSeveral(t *testing.T) {
	const scene = `
about: three queue pairs between two hosts
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {timeout: 12, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}, a3: {hca: a, peer: b3}, b3: {hca: b, peer: a3}}
taps: [middle]
work:
  - {qp: a1, op: write, length: 1000, repeat: 3, every: 1ms}
  - {qp: a2, op: write, length: 100, repeat: 40, every: EVERY}
  - {qp: a3, op: write, length: 100, repeat: 40, every: EVERY}
errors:
  - {do: drop, from: a, psn: 0x100002, count: all, where: after}
`
	for every, want := range map[string]bool{"10ms": true, "10us": false, "10ms, at: 20ms": false} { // the last: they began later
		r := judged(t, frames(t, strings.ReplaceAll(scene, "EVERY", every)), agent.Options{})
		got, i := toldOf(r), incident.Of(r)[0]
		first := strings.HasPrefix(i.FitsWith[0], "one path of several from 10.1.0.1 to 10.1.0.2 that fails, which this queue pair takes (UDP source port ")
		said := strings.Contains(got, "beside: 10.1.0.2 went on sending on 2 other queue pairs between the same hosts (UDP source ports ") && strings.Contains(got, "; this one sends with UDP source port ")
		if first != want || said != want || want != strings.Contains(i.Next[0], "is hashed to, and their counters") {
			t.Errorf("every %s: %s\n%q\n%q", every, got, i.FitsWith, i.Next)
		}
	}
}
