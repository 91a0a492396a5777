package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
)

// TestResume: for how long RNR NAKs asked to wait is added up over those after which the requester resumed.
func TestResume(t *testing.T) {
	const scene = `
about: a receive that is posted late, and a requester that resumes late
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {min_rnr_timer: 1, timeout: 18}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
work:
  - {qp: a1, op: send, length: 1000}
  - {qp: b1, op: receive, length: 1000, at: 30us}
taps: [b]
`
	const slow = "it asked to wait for "
	if got := happened(t, frames(t, scene), agent.Options{}); !strings.Contains(got, "not-ready") || strings.Contains(got, slow) {
		t.Error(got)
	}
	if got := happened(t, frames(t, scene+"errors: [{do: delay, from: a, nth: 2, delay: 40ms}]\n"), agent.Options{}); !strings.Contains(got, slow+"10µs in all; 10.1.0.1 took 40") {
		t.Error(got)
	}
}

// TestEpisodes: RNR NAKs after a break are told as episodes; one episode is not counted.
func TestEpisodes(t *testing.T) {
	const scene = `
about: a receive that is posted late, again and again
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {min_rnr_timer: 1, timeout: 18}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
taps: [b]
work:
  - {qp: a1, op: send, length: 1000}
  - {qp: b1, op: receive, length: 1000, at: 30us}
`
	const again = `
  - {qp: a1, op: send, length: 1000, at: 2s}
  - {qp: b1, op: receive, length: 1000, at: 2000030us}
  - {qp: a1, op: send, length: 1000, at: 5s}
  - {qp: b1, op: receive, length: 1000, at: 5000030us}
`
	const told = "episodes: "
	if got := happened(t, frames(t, scene), agent.Options{}); !strings.Contains(got, "not-ready") || strings.Contains(got, told) {
		t.Error(got)
	}
	if got := happened(t, frames(t, scene+again), agent.Options{}); !strings.Contains(got, told+"3, with breaks between: on average every 2.5s; the newest began 5s after the first") {
		t.Error(got)
	}
}
