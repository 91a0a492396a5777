package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/incident"
	"ibwitness/rule"
)

// TestAllOvertaken: where packets came after later ones, the receiver asked for some, and the capture holds each IPv4 identification of their sender, nothing was lost: no drop is offered then, and its requester is
// not suspected. It is not told so where one packet was lost as well, nor where the identifications are those of no counter.
func TestAllOvertaken(t *testing.T) {
	const scene = `
about: packets overtake one another
hcas: {a: 10.0.0.1, b: 10.0.0.2}
attributes: {pmtu: 1024, timeout: 18}
qps:
  a1: {hca: a, peer: b1}
  b1: {hca: b, peer: a1}
work:
  - {qp: a1, op: write, length: 16384, repeat: 40, every: 100us}
errors:
  - {do: reorder, from: a, psn: +100, overtaken_by: 2}
  - {do: reorder, from: a, psn: +200, overtaken_by: 3}
  - {do: reorder, from: a, psn: +300, overtaken_by: 2}
taps: [b]
`
	const none = "lost: nothing: the capture holds each IPv4 identification of 10.0.0.1"
	r := judged(t, frames(t, scene), agent.Options{Timing: true})
	told := toldOf(r)
	for _, want := range []string{none, "NAKs for packets that came late, or that were dropped as they came before these"} {
		if !strings.Contains(told, want) {
			t.Errorf("told %s\nwant %q", told, want)
		}
	}
	list := incident.Of(r)
	if len(list) != 1 || list[0].Kind != incident.Reordered {
		t.Errorf("%d incidents of one reordering: %s", len(list), told)
	}
	for _, i := range list {
		if fits := strings.Join(i.FitsWith, "; "); strings.Contains(fits, "a queue that drops") || strings.Contains(fits, "cable") {
			t.Errorf("fits %s", fits)
		}
	}
	for n := range r.Findings {
		if f := &r.Findings[n]; f.Class == rule.Unproven {
			t.Errorf("suspected: %+v", f)
		}
	}
	lost := strings.Replace(scene, "errors:", "errors:\n  - {do: drop, from: a, psn: +400}", 1)
	if told := happened(t, frames(t, lost), agent.Options{Timing: true}); strings.Contains(told, none) || !strings.Contains(told, "packets or their answers were lost, late or overtaken") {
		t.Errorf("one is lost: told %s", told)
	}
	if told := happened(t, withoutIDs(frames(t, scene)), agent.Options{Timing: true}); strings.Contains(told, none) {
		t.Errorf("without identifications: told %s", told)
	}
}
