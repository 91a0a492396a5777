package incident_test

import (
	"fmt"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/incident"
)

// TestNextFailed: where hosts begin another connection that is never answered either, that is told; not of one that is.
func TestNextFailed(t *testing.T) {
	const scene = `
about: a connection that nothing answers, and another after it
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {timeout: 12, retry_cnt: 3}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}, a3: {hca: a, peer: b3}, b3: {hca: b, peer: a3}}
work:
  - {qp: a3, op: write, length: 100, repeat: 60, every: 20ms}
  - {qp: a1, op: write, length: 100, at: 5ms}
  - {qp: a2, op: write, length: 100, at: 700ms}
taps: [middle]
errors:
  - {do: drop, from: a, psn: 0x100000, count: all, where: after}
`
	const began, failed = "then: the same hosts began another connection", ", which was never answered either"
	for more, want := range map[string]bool{"": false, "  - {do: drop, from: a, psn: 0x300000, count: all, where: after}\n": true} {
		if got := happened(t, frames(t, scene+more), agent.Options{}); !strings.Contains(got, began) || strings.Contains(got, failed) != want {
			t.Errorf("%q: %s", more, got)
		}
	}
}

// TestLossesBeside: a request that was lost twice on a path that loses many packets may have been lost each time; not one that was lost more often, or on a path that loses nothing else.
func TestLossesBeside(t *testing.T) {
	const scene = `
about: WRITEs some of which are lost, and one each time
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {timeout: 14, retry_cnt: %}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}}
work:
  - {qp: a1, op: write, length: 100, repeat: 60, every: 20ms}
  - {qp: a2, op: write, length: 100, repeat: 90, every: 20ms}
taps: [middle]
errors:
  - {do: drop, from: a, psn: 0x10003b, count: all, where: after}
`
	var losses strings.Builder
	for n := range 8 {
		fmt.Fprintf(&losses, "  - {do: drop, from: a, psn: 0x3000%02d, where: after}\n", 10+n*4)
	}
	for _, k := range []struct {
		retries, losses string
		want            bool
	}{{"1", losses.String(), true}, {"7", losses.String(), false}, {"1", "", false}} {
		got := ""
		for _, i := range incident.Of(judged(t, frames(t, strings.Replace(scene, "%", k.retries, 1)+k.losses), agent.Options{})) {
			if i.Kind == incident.Unanswered {
				got += i.FitsWith[0]
			}
		}
		const said = "packets that were lost, as others between these hosts were, for which there were 8 rounds of retransmission: it was sent twice, and each time it or its answer was lost"
		if got == "" || strings.Contains(got, "packets that were lost, as others") != k.want || k.want && got != said {
			t.Errorf("%s retries, losses %t: %q", k.retries, k.losses != "", got)
		}
	}
}
