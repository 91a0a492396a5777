package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/incident"
)

// TestLate: where each copy of a request was answered, the answers came late and nothing was lost; where an answer was lost after the tap, that is told.
func TestLate(t *testing.T) {
	const scene = `
about: SENDs whose first answer is held up, or lost
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {timeout: 4}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
work:
  - {qp: b1, op: receive, length: 1000, repeat: 20}
  - {qp: a1, op: send, length: 1000, repeat: 20, every: 2ms}
taps: [middle]
errors:
`
	for name, tt := range map[string]struct{ fault, want, not string }{
		"the answer is late":                {"{do: delay, from: b, op: ack, nth: 5, delay: 200us}", "the answers came late, and each copy was answered.", "where: once after"},
		"the answer is lost after the tap":  {"{do: drop, from: b, op: ack, nth: 5, where: after}", "where: once on the way back: the answer had passed the tap, and was lost after it or came too late", "late, and"},
		"the answer is lost before the tap": {"{do: drop, from: b, op: ack, nth: 5}", "where: once after the tap, or on the way back", "late, and"},
		"the request is lost":               {"{do: drop, from: a, op: send_only, nth: 5, where: after}", "where: once after the tap, on the way to the receiver or there", "late, and"},
	} {
		got := happened(t, frames(t, scene+"  - "+tt.fault+"\n"), agent.Options{})
		if !strings.Contains(got, tt.want) || strings.Contains(got, tt.not) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestLostOnTheWayThere: requests that a timer had retransmitted were lost on the way to their receiver or there where its IPv4 identifications show that it sent nothing until the copies came, and no late
// answer fits; not where it has sent answers, or does not number its packets.
func TestLostOnTheWayThere(t *testing.T) {
	const scene = `
about: lone WRITEs, some of which are lost
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {timeout: 8}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
work:
  - {qp: a1, op: write, length: 100, repeat: 40, every: 5ms}
taps: [middle]
errors:
`
	lost := func(fault string) (text string) {
		for _, nth := range []string{"5", "15", "25", "35"} {
			text += "  - " + strings.Replace(fault, "nth: 5", "nth: "+nth, 1) + "\n"
		}
		return scene + text
	}
	const request, said = "{do: drop, from: a, op: write, nth: 5, where: after}", "each time a request was lost after the tap, on the way to 10.1.0.2 or there, which sent nothing until the copies came"
	for name, tt := range map[string]struct {
		list []fabricagent.Frame
		want bool
	}{
		"requests lost":               {frames(t, lost(request)), true},
		"requests lost, not numbered": {unnumbered(frames(t, lost(request))), false},
		"answers lost before the tap": {frames(t, lost("{do: drop, from: b, op: ack, nth: 5}")), false},
		"answers lost after it":       {frames(t, lost("{do: drop, from: b, op: ack, nth: 5, where: after}")), false},
		"answers late":                {frames(t, lost("{do: delay, from: b, op: ack, nth: 5, delay: 2ms}")), false},
	} {
		r := judged(t, tt.list, agent.Options{})
		got, fits := toldOf(r), strings.Join(incident.Of(r)[0].FitsWith, "; ")
		if strings.Contains(got, said) != tt.want || tt.want && strings.Contains(fits, "ACK timeout") || !strings.Contains(got, "in 4 rounds") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestMostlyLate: where answers take longer than the ACK timeout, the timeout is why, also where the copy was not answered of one of many rounds; with more of these something may have been lost. Of two queue
// pairs between the same hosts one incident tells. The copies cost no time where all answers take so long.
func TestMostlyLate(t *testing.T) {
	const scene = `
about: SENDs whose answers are late
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {timeout: 8}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}}
work:
  - {qp: b1, op: receive, length: 1000, repeat: 20}
  - {qp: b2, op: receive, length: 1000, repeat: 20}
  - {qp: a1, op: send, length: 1000, repeat: 16, every: 5ms}
%s
taps: [middle]
errors:
`
	const short = "a requester's ACK timeout that is too short for this path: half of the answers take "
	const second = "  - {qp: a2, op: send, length: 1000, repeat: 16, every: 5ms, at: 1ms}"
	for name, tt := range map[string]struct{ work, faults, want, not string }{
		"two queue pairs": {second, "  - {do: delay, from: b, op: ack, nth: 1, count: 99, delay: 2ms}\n", "also: 10.1.0.1 QP ", "likewise"},
		"all":             {"", "  - {do: delay, from: b, op: ack, nth: 1, count: 99, delay: 2ms}\n", short, " of these rounds"},
		"most":            {"", "  - {do: delay, from: b, op: ack, nth: 1, count: 99, delay: 2ms}\n  - {do: drop, from: b, op: ack, nth: 8}\n", " of these rounds each copy was answered.", "bad cable"},
		"half":            {"", "  - {do: delay, from: b, op: ack, nth: 1, count: 99, delay: 2ms}\n  - {do: drop, from: b, op: ack, nth: 2}\n  - {do: drop, from: b, op: ack, nth: 8}\n  - {do: drop, from: b, op: ack, nth: 14}\n  - {do: drop, from: b, op: ack, nth: 20}\n", "bad cable", short},
		"few":             {"", "  - {do: delay, from: b, op: ack, nth: 3, count: 2, delay: 2ms}\n", "the path that was held up meanwhile", short},
	} {
		r := judged(t, frames(t, strings.Replace(scene, "%s", tt.work, 1)+tt.faults), agent.Options{Timing: true})
		got := toldOf(r)
		for _, i := range incident.Of(r) {
			got += strings.Join(i.FitsWith, "; or ")
		}
		if !strings.Contains(got, tt.want) || strings.Contains(got, tt.not) || strings.Contains(got, "lost the most time") {
			t.Errorf("%s: %s", name, got)
		}
		if always := name == "two queue pairs" || name == "all"; strings.Contains(got, "cost: no time: answers took as long as always, up to 2") != always {
			t.Errorf("%s: cost: %s", name, got)
		}
	}
}

// TestDamagedAnswers: where responses to a READ pass the tap damaged, and later ones whole, it is not told that its answer had passed.
func TestDamagedAnswers(t *testing.T) {
	const scene = `
about: READs whose first response is damaged twice, before SENDs
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {timeout: 12, pmtu: 1024}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
work:
  - {qp: b1, op: receive, length: 1000, repeat: 20}
  - {qp: a1, op: read, length: 4000, repeat: 20, every: 2ms}
  - {qp: a1, op: send, length: 1000, repeat: 20, every: 2ms}
taps: [middle]
errors:
  - {do: %s, from: b, to: a, op: read_response_first, nth: 5, count: 2}
`
	const passed, other = "the answer had passed the tap", "on the way back, before the tap: a response is missing"
	damaged := happened(t, frames(t, strings.Replace(scene, "%s", "corrupt, flip: 1", 1)), agent.Options{})
	if strings.Contains(damaged, passed) || !strings.Contains(damaged, other+" or damaged, or came after a later one") {
		t.Error(damaged)
	}
	if missing := happened(t, frames(t, strings.Replace(scene, "%s", "drop", 1)), agent.Options{}); !strings.Contains(missing, other+", or came after a later one") {
		t.Error(missing)
	}
}
