package incident_test

import (
	"fmt"
	"strings"
	"testing"

	"ibwitness/agent"
)

// TestCameBack: a queue pair that does not outlast an outage, as others between the hosts do, is not one that only is gone itself.
func TestCameBack(t *testing.T) {
	const scene = `
about: WRITEs on two connections while a path fails for a while
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {timeout: 20, retry_cnt: 7}
qps:
  a1: {hca: a, peer: b1, timeout: 12, retry_cnt: 3}
  b1: {hca: b, peer: a1}
  a2: {hca: a, peer: b2}
  b2: {hca: b, peer: a2}
work:
  - {qp: a1, op: write, length: 1000, repeat: 26, every: 5ms}
  - {qp: a2, op: write, length: 1000, repeat: 26, every: 5ms}
  - {qp: a2, op: write, length: 1000, repeat: 26, every: 5ms, at: 20s}
taps: [a]
errors:
`
	const both = "peer: 10.1.0.2 answered nothing on the other connection between them either, until 6.47s after this request"
	const one = "peer: 10.1.0.2 went on sending on other connections: last "
	const idle = `
about: WRITEs on two connections while a path fails for a while, and a third that carries one before and one after
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {timeout: 20, retry_cnt: 7}
qps:
  a1: {hca: a, peer: b1, timeout: 12, retry_cnt: 3}
  b1: {hca: b, peer: a1}
  a2: {hca: a, peer: b2}
  b2: {hca: b, peer: a2}
  a3: {hca: a, peer: b3}
  b3: {hca: b, peer: a3}
work:
  - {qp: a3, op: write, length: 1000}
  - {qp: a1, op: write, length: 1000, repeat: 26, every: 5ms}
  - {qp: a2, op: write, length: 1000, repeat: 26, every: 5ms}
  - {qp: a3, op: write, length: 1000, at: 20s}
taps: [a]
errors:
  - {do: drop, from: a, op: request, nth: 52, count: 5, where: after}
`
	const seldom = "peer: 10.1.0.2 answered nothing on another connection between them either, until 6.54s after this request; what 1 more carried meanwhile is not known"
	if got := happened(t, frames(t, idle), agent.Options{}); !strings.Contains(got, seldom) || strings.Contains(got, "destroyed") {
		t.Errorf("an idle one: %s\nwant %q", got, seldom)
	}
	busy := strings.NewReplacer("op: write, length: 1000}", "op: write, length: 1000, repeat: 900, every: 5ms}", "op: request, nth: 52, count: 5, where: after}", "psn: 0x100019, count: 4, where: after}\n  - {do: drop, from: a, psn: 0x300019, where: after}", "  - {qp: a3, op: write, length: 1000, at: 20s}\n", "").Replace(idle)
	if got := happened(t, frames(t, busy), agent.Options{}); strings.Contains(got, "between them either") || !strings.Contains(got, one) {
		t.Errorf("beside a busy one: %s\nwant %q", got, one)
	}
	away := strings.NewReplacer("10.1.0.2}", "10.1.0.2, c: 10.1.0.3}", "a2: {hca: a,", "a2: {hca: c,", "a3: {hca: a,", "a3: {hca: c,", "nth: 52, count: 5, where: after}", "to: b, nth: 26, count: 4, where: after}\n  - {do: drop, from: c, to: b, op: request, nth: 27, where: after}").Replace(idle)
	const other = "peer: 10.1.0.2 answered nothing on another connection with another host either"
	if got := happened(t, frames(t, strings.Replace(away, "taps: [a]", "taps: [middle]", 1)), agent.Options{}); !strings.Contains(got, other) {
		t.Errorf("of another host: %s\nwant %q", got, other)
	}
	for name, tt := range map[string]struct{ errors, want, not string }{
		"an outage":        {"  - {do: drop, from: a, op: request, nth: 51, count: 5, where: after}\n", both, one},
		"one that is gone": {"  - {do: drop, from: a, psn: 0x100019, count: 4, where: after}\n", one, both},
	} {
		got := happened(t, frames(t, scene+tt.errors), agent.Options{})
		if !strings.Contains(got, tt.want) || strings.Contains(got, tt.not) {
			t.Errorf("%s: %s\nwant %q", name, got, tt.want)
		}
	}
}

// TestBeganInOutage: a queue pair that does not answer any more after an outage which another has outlasted is told as that; not where the other went on all the time.
func TestBeganInOutage(t *testing.T) {
	const scene = `
about: WRITEs on two connections while a path fails for a while, after which one queue pair is gone
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {timeout: 18, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}}
work:
  - {qp: a1, op: write, length: 1000, repeat: 26, every: 5ms}
  - {qp: a2, op: write, length: 1000, repeat: 27, every: 5ms}
  - {qp: a2, op: write, length: 1000, repeat: 26, every: 5ms, at: 20s}
taps: [a]
errors:
  - {do: drop, from: a, psn: 0x100019, count: all, where: after}
`
	const lost = "  - {do: drop, from: a, psn: 0x300019, count: 2, where: after}\n  - {do: drop, from: a, psn: 0x30001a, count: 2, where: after}\n"
	const said = "outage: when this was retransmitted first, 10.1.0.2 had answered nothing on 1 other connection between them either, until "
	for errors, want := range map[string]bool{lost: true, "": false} {
		if got := happened(t, frames(t, scene+errors), agent.Options{}); strings.Contains(got, said) != want || !strings.Contains(got, "unanswered (proven)") {
			t.Errorf("%q: %s", errors, got)
		}
	}
}

// TestCameBackQuiet: a queue pair whose retries are used up while busy connections of the host that was asked carry nothing is not one that only is gone itself; where one of them carried something, it may be.
func TestCameBackQuiet(t *testing.T) {
	const scene = `
about: a host that is silent for a while, and goes on
hcas: {a: 10.1.0.1, b: 10.1.0.2, c: 10.1.0.3}
attributes: {timeout: 14, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, b2: {hca: b, peer: %[1]s2}, %[1]s2: {hca: %[1]s, peer: b2}}
work:
  - {qp: a1, op: write, length: 1000, repeat: 100, every: 5ms}
  - {qp: b2, op: write, length: 1000, repeat: 100, every: 5ms}
  - {qp: b2, op: write, length: 1000, repeat: 100, every: 5ms, at: %[2]s}
taps: [middle]
errors:
  - {do: drop, from: a, to: b, op: request, nth: 100, count: all, where: after}
`
	for name, tt := range map[string]struct{ peer, resumed, want string }{
		"between the hosts": {"a", "3s", "10.1.0.2 QP 0xa32 never answered it; the capture holds nothing of 10.1.0.2 on any connection for 2.51s meanwhile."},
		"with another host": {"c", "3s", "10.1.0.2 QP 0xa32 never answered it; the capture holds nothing of 10.1.0.2 on any connection for 2.51s meanwhile."},
		"one that went on":  {"a", "505ms", "peer: 10.1.0.2 went on sending on other connections: last "},
	} {
		got := happened(t, frames(t, fmt.Sprintf(scene, tt.peer, tt.resumed)), agent.Options{Timing: true})
		if silent := strings.Contains(got, "peer: the capture holds nothing of 10.1.0.2 on any connection for 2.51s from +0.495 s on: all retransmissions fall into that"); !strings.Contains(got, tt.want) || silent == strings.Contains(tt.want, "went on") {
			t.Errorf("%s: %s\nwant %q", name, got, tt.want)
		}
	}
}

// TestSilentToAll: a host that answers nothing for a while, and carries nothing with others either, has stopped itself, or its link has; not where it went on with others.
func TestSilentToAll(t *testing.T) {
	const scene = `
about: a host that is silent for a while
hcas: {a: 10.1.0.1, b: 10.1.0.2, c: 10.1.0.3}
attributes: {timeout: 17, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, b2: {hca: b, peer: c2}, c2: {hca: c, peer: b2}}
work:
  - {qp: a1, op: write, length: 1000, repeat: 100, every: 5ms}
  - {qp: a1, op: write, length: 1000, repeat: 50, every: 5ms, at: 1700ms}
  - {qp: b2, op: write, length: 1000, repeat: 100, every: 5ms}
  - {qp: b2, op: write, length: 1000, repeat: 100, every: 5ms, at: %s}
taps: [middle]
errors:
  - {do: drop, from: a, to: b, op: request, nth: 100, where: after}
`
	const said = "peer: 10.1.0.2 carried nothing meanwhile with other hosts either, on 1 connection which had been busy"
	for resumed, want := range map[string]bool{"1400ms": true, "505ms": false} {
		got := happened(t, frames(t, fmt.Sprintf(scene, resumed)), agent.Options{Timing: true})
		if strings.Contains(got, said) != want || !strings.Contains(got, "interrupted (proven)") {
			t.Errorf("resumed after %s: %s", resumed, got)
		}
	}
}
