package incident_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestPeers: where several hosts lose a peer within a second, that is told once, and nobody is asked what the capture shows; where they lose it later, or one of them does, it is not.
func TestPeers(t *testing.T) {
	const head = `
about: hosts that lose a peer
hcas: {a: 10.2.0.1, b: 10.2.0.2, c: 10.2.0.3}
attributes: {timeout: 12, retry_cnt: 3}
qps: {a1: {hca: a, peer: c1}, c1: {hca: c, peer: a1}, b1: {hca: b, peer: c2}, c2: {hca: c, peer: b1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}}
work: [{qp: a1, op: write, length: 1024, repeat: 300, every: 10ms}, {qp: b1, op: read, length: 1024, repeat: 300, every: 10ms}, {qp: a2, op: write, length: 1024, repeat: 300, every: 10ms}]
taps: [middle]
errors:
  - {do: drop, from: a, to: c, nth: 20, count: all, where: after}
  - {do: drop, from: c, to: a, nth: 20, count: all}
`
	const question = "whether other hosts still reached 10.2.0.3 then"
	both := reasons(t, head+"  - {do: drop, from: b, to: c, nth: 21, count: all, where: after}\n  - {do: drop, from: c, to: b, nth: 21, count: all}\n")
	if strings.Count(both, "unanswered (proven)") != 1 || !strings.Contains(both, "(proven): 2 hosts lost 10.2.0.3 within 10ms: 10.2.0.1 QP ") || strings.Contains(both, question) ||
		!strings.Contains(both, "hosts: 10.2.0.1 and 10.2.0.2; this is") || !strings.Contains(both, "others: 10.2.0.2 went on sending to 10.2.0.1: last ") {
		t.Error(both)
	}
	later := reasons(t, head+"  - {do: drop, from: b, to: c, nth: 200, count: all, where: after}\n  - {do: drop, from: c, to: b, nth: 200, count: all}\n")
	if strings.Count(later, "unanswered (proven)") != 2 || strings.Contains(later, "hosts lost") || !strings.Contains(later, question) {
		t.Error(later)
	}
	if one := reasons(t, head); strings.Count(one, "unanswered (proven)") != 1 || strings.Contains(one, "hosts lost") || strings.Contains(one, "others: ") {
		t.Error(one)
	}
}

// TestPeersWaited: where several hosts wait for the same one at the same time, and it answers again, that is told once; not where they wait one after the other.
func TestPeersWaited(t *testing.T) {
	const scene = `
about: a host that stops for a while
hcas: {a: 10.2.0.1, b: 10.2.0.2, c: 10.2.0.3}
attributes: {timeout: 16}
qps: {a1: {hca: a, peer: c1}, c1: {hca: c, peer: a1}, b1: {hca: b, peer: c2}, c2: {hca: c, peer: b1}}
work: [{qp: a1, op: write, length: 1024, repeat: 400, every: 10ms}, {qp: b1, op: read, length: 1024, repeat: 400, every: 10ms}]
taps: [middle]
errors:
  - {do: delay, from: c, to: a, nth: 100, delay: 900ms, hold: true, where: before}
  - {do: delay, from: c, to: b, nth: %d, delay: 900ms, hold: true, where: before}
`
	const question = "whether other connections of these hosts stopped too"
	if got := reasons(t, fmt.Sprintf(scene, 100)); strings.Count(got, "interrupted (proven)") != 1 || strings.Contains(got, question) ||
		!strings.Contains(got, "2 hosts waited for 10.2.0.3 ") || !strings.Contains(got, "fits: 10.2.0.3 or its adapter, that stopped for that long: it is what they have in common, and what was sent had arrived") {
		t.Error(got)
	}
	if got := reasons(t, fmt.Sprintf(scene, 300)); strings.Count(got, "interrupted (proven)") != 2 || !strings.Contains(got, question) || strings.Contains(got, "hosts waited") {
		t.Error(got)
	}
}

// TestSilentOnAll: that nothing of a host is in the capture any more, on none of its connections, is in the sentence itself; not where one of them went on.
func TestSilentOnAll(t *testing.T) {
	const scene = `
about: a host that falls silent on all of its connections
hcas: {a: 10.2.0.1, b: 10.2.0.2, c: 10.2.0.3}
link: {delay: 5ms}
attributes: {timeout: 14, retry_cnt: 7}
qps: {a1: {hca: a, peer: c1}, c1: {hca: c, peer: a1}, b1: {hca: b, peer: c2}, c2: {hca: c, peer: b1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}}
work: [{qp: a1, op: write, length: 1024, repeat: 300, every: 2ms}, {qp: b1, op: write, length: 1024, repeat: 300, every: 2ms}, {qp: a2, op: write, length: 1024, repeat: 300, every: 10ms}]
taps: [middle]
errors:
  - {do: drop, from: c, to: a, nth: 20, count: all}
`
	const told = "never answered it. Nothing of 10.2.0.3 is in the capture from +0.041 s on until the end, 2.95s later, on any of its 2 connections."
	if got := reasons(t, scene+"  - {do: drop, from: c, to: b, nth: 20, count: all}\n"); !strings.Contains(got, told) {
		t.Error(got)
	}
	if got := reasons(t, scene); strings.Contains(got, "Nothing of ") || !strings.Contains(got, "unanswered (proven)") {
		t.Error(got)
	}
}
