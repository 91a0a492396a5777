package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/incident"
)

// TestLateTogether: where the answers of one responder come late to several hosts at the same times, one incident tells of them, with all that was
// retransmitted; where their waits do not overlap, each is told by itself.
func TestLateTogether(t *testing.T) {
	const scene = `
about: SENDs of two hosts, of which some answers are late
hcas: {a: 10.1.0.1, b: 10.1.0.2, c: 10.1.0.3}
attributes: {timeout: 8}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, c1: {hca: c, peer: b2}, b2: {hca: b, peer: c1}}
work:
  - {qp: b1, op: receive, length: 1000, repeat: 40}
  - {qp: b2, op: receive, length: 1000, repeat: 40}
  - {qp: a1, op: send, length: 1000, repeat: 40, every: 8ms}
  - {qp: c1, op: send, length: 1000, repeat: 40, every: 8ms, at: AT}
taps: [middle]
errors:
  - {do: delay, from: b, to: a, op: ack, nth: 9, count: 8, delay: 2ms}
  - {do: delay, from: b, to: c, op: ack, nth: 9, count: 8, delay: 2ms}
`
	const told = "10.1.0.2 answered 2 hosts late, often at the same time: these retransmitted 8 of 88 packets to it (9.1 %), in 8 rounds on " +
		"2 connections, though nothing was lost: each copy was answered, too."
	for at, want := range map[string]bool{"100us": true, "4ms": false} {
		list := incident.Of(judged(t, frames(t, strings.Replace(scene, "AT", at, 1)), agent.Options{Timing: true}))
		late, one := 0, false
		for n := range list {
			if strings.Contains(list[n].What, "late") {
				late++
			}
			one = one || list[n].What == told
		}
		if one != want || late != map[bool]int{true: 1, false: 2}[want] {
			t.Errorf("the second after %s: %+v", at, list)
		}
	}
}
