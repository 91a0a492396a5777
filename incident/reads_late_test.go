package incident_test

import (
	"fmt"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/incident"
)

// TestReadsLate: where READ responses came after later ones, and as many bytes came as READs asked for, what was retransmitted is told with that, and no loss; nor is one told where nothing numbers them. It is not told
// so where one was lost as well, or where many were after the tap.
func TestReadsLate(t *testing.T) {
	const scene = `
about: READ responses overtake one another
hcas: {a: 10.0.0.1, b: 10.0.0.2, c: 10.0.0.3}
attributes: {pmtu: 1024, timeout: 18}
qps:
  a1: {hca: a, peer: b1}
  b1: {hca: b, peer: a1}
  a2: {hca: a, peer: c1}
  c1: {hca: c, peer: a2}
work:
  - {qp: a1, op: read, length: 16384, repeat: 40, every: 100us}
  - {qp: a2, op: read, length: 16384, repeat: 40, every: 100us}
errors:
  - {do: reorder, from: b, to: a, op: read_response, nth: 100, overtaken_by: 2}
  - {do: reorder, from: b, to: a, op: read_response, nth: 200, overtaken_by: 3}
  - {do: reorder, from: b, to: a, op: read_response, nth: 300, overtaken_by: 2}
taps: [a]
`
	const none = "Nothing was lost before the tap: READs, with 5 that were retransmitted, ask for 714,752 bytes, and as many came."
	r := judged(t, frames(t, scene), agent.Options{Timing: true})
	told := toldOf(r)
	for _, want := range []string{
		"At least 3 READ responses that 10.0.0.2 QP 0xa32 sent to 10.0.0.1 QP 0x9bc came after later ones, up to 2 PSNs ahead, though they had left first. " + none,
		"lost: nothing before the tap: 714,752 bytes asked for, with those retransmitted, and 714,752 came, and each time a READ was retransmitted as others had come first; the capture holds each IPv4 identification of 10.0.0.2\n",
		"cost: 5 READs retransmitted, in 5 rounds; 58 of 698 responses (8.3 %) were copies of what had come\n",
	} {
		if !strings.Contains(told, want) {
			t.Errorf("told %s\nwant %q", told, want)
		}
	}
	list := incident.Of(r)
	if len(list) != 1 || list[0].Kind != incident.Reordered {
		t.Fatalf("%d incidents of one reordering: %s", len(list), told)
	}
	if next := strings.Join(list[0].Next, "; "); !strings.Contains(next, "on the way from 10.0.0.2 to 10.0.0.1; implied_nak_seq_err of 10.0.0.1") || strings.Contains(next, "discards") {
		t.Errorf("next %s", next)
	}
	lost := strings.Replace(scene, "errors:", "errors:\n  - {do: drop, from: b, to: a, op: read_response, nth: 400}", 1)
	if told := happened(t, frames(t, lost), agent.Options{Timing: true}); strings.Contains(told, "lost before the tap: READs") || strings.Contains(told, "none was lost") || !strings.Contains(told, "in 6 rounds: packets or their answers were lost, late or overtaken") {
		t.Errorf("one is lost: told %s", told)
	}
	after := strings.Replace(scene, "taps: [a]", "  - {do: drop, from: b, to: a, op: read_response, nth: 400, where: after}\ntaps: [middle]", 1)
	for n := range 12 {
		after = strings.Replace(after, "taps:", fmt.Sprintf("  - {do: drop, from: b, to: a, op: read_response, nth: %d, where: after}\ntaps:", 410+10*n), 1)
	}
	if told := happened(t, frames(t, after), agent.Options{Timing: true}); strings.Contains(told, "none was lost") || !strings.Contains(told, "packets or their answers were lost, late or overtaken") {
		t.Errorf("many are lost after the tap: told %s", told)
	}
	told = happened(t, withoutIDs(frames(t, scene)), agent.Options{Timing: true})
	if !strings.Contains(told, "in 5 rounds: READ responses came after later ones, and none was lost before the tap.") {
		t.Errorf("without identifications: told %s", told)
	}
	if told = happened(t, withoutIDs(frames(t, lost)), agent.Options{Timing: true}); strings.Contains(told, "none was lost") {
		t.Errorf("one is lost, without identifications: told %s", told)
	}
}

// TestReadsInOrder: where responses of some hosts come late often, and those of another never, in the same time, that is told; not of one that sent too few.
func TestReadsInOrder(t *testing.T) {
	const scene = `
about: READ responses of one host overtake one another
hcas: {a: 10.0.0.1, b: 10.0.0.2, c: 10.0.0.3}
attributes: {pmtu: 1024, timeout: 18}
qps:
  a1: {hca: a, peer: b1}
  b1: {hca: b, peer: a1}
  a2: {hca: a, peer: c1}
  c1: {hca: c, peer: a2}
work:
  - {qp: a1, op: read, length: 16384, repeat: 40, every: 100us}
  - {qp: a2, op: read, length: 16384, repeat: REPEAT, every: 100us}
taps: [a]
errors:
`
	var errors strings.Builder
	for n := range 60 {
		fmt.Fprintf(&errors, "  - {do: reorder, from: b, to: a, op: read_response, nth: %d, overtaken_by: 2}\n", 20+10*n)
	}
	for repeat, told := range map[string]bool{"40": true, "2": false} {
		text := strings.Replace(scene, "REPEAT", repeat, 1) + errors.String()
		got := happened(t, frames(t, text), agent.Options{Timing: true})
		if strings.Contains(got, "READ responses of 10.0.0.3 came late in this time: what reorders is not on their way") != told || strings.Contains(got, "in order: none of about") != told {
			t.Errorf("%s READs of the other: told %s", repeat, got)
		}
	}
}
