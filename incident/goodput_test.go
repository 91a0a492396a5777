package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/incident"
)

// TestGoodput: where much of what goes to several hosts is retransmitted for part of the time, what came through then and in the rest is told, to each, of all its queue pairs; where little is, or the senders pause most of the time, it is not.
func TestGoodput(t *testing.T) {
	const scene = `
about: WRITEs to two hosts beyond a path that loses packets for a while, and to one that is near
link: {delay: 100us}
hcas: {a: 10.1.0.1, b: 10.1.0.2, c: 10.1.0.3, d: 10.1.0.4}
attributes: {pmtu: 1024, timeout: 14, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: c1}, c1: {hca: c, peer: a2}, a3: {hca: a, peer: d1}, d1: {hca: d, peer: a3}}
work:
  - {qp: a1, op: write, length: 65536, repeat: 700, every: 1ms}
  - {qp: a2, op: write, length: 65536, repeat: 700, every: 1ms}
  - {qp: a3, op: write, length: 65536, repeat: 700, every: 1ms}
taps: [a]
errors:
`
	timed := func(scene string) string {
		return reasonsOf(incident.Of(judged(t, frames(t, scene), agent.Options{Timing: true})))
	}
	for lost, want := range map[string]bool{"probability: 0.02, count: 150": true, "probability: 0.001, count: 60": false} {
		errors := ""
		for _, to := range []string{"b", "c"} {
			errors += "  - {do: drop, from: a, to: " + to + ", op: request, " + lost + ", where: after}\n"
		}
		got := timed(scene + errors)
		if !strings.Contains(got, "Packets from 10.1.0.1 to 10.1.0.2 and 10.1.0.3 were lost after the tap") || strings.Contains(got, "goodput: new payload: ") != want ||
			strings.Contains(got, " in which much was retransmitted (") != want || !strings.Contains(got, "that they have in common; or the link, adapter or switch port of each of them") {
			t.Errorf("%s: %s", lost, got)
		}
	}
	const errors = `
  - {do: drop, from: a, to: b, op: request, probability: 0.05, count: 150, where: after}
  - {do: drop, from: a, to: c, op: request, probability: 0.05, count: 150, where: after}
`
	pausing := strings.ReplaceAll(strings.ReplaceAll(scene, "repeat: 700, every: 1ms", "repeat: 100, every: 20ms"), "errors:\n", "errors:"+errors)
	if got := timed(pausing); !strings.Contains(got, "Packets from 10.1.0.1 to 10.1.0.2 and 10.1.0.3 were lost after the tap") || strings.Contains(got, "goodput: ") {
		t.Errorf("pausing: %s", got)
	}
	two := strings.Replace(scene, "c1: {hca: c, peer: a2}", "c1: {hca: c, peer: a2}, a4: {hca: a, peer: c2}, c2: {hca: c, peer: a4}", 1)
	two = strings.Replace(two, "taps: ", "  - {qp: a4, op: write, length: 65536, repeat: 700, every: 1ms}\ntaps: ", 1)
	two = strings.ReplaceAll(two, "errors:\n", "errors:"+strings.ReplaceAll(errors, "count: 150", "count: 300"))
	if got := timed(two); !strings.Contains(got, " to 10.1.0.2 on QP 0x") || !strings.Contains(got, " to 10.1.0.3 on 2 queue pairs in up to ") {
		t.Errorf("two: %s", got)
	}
}
