package incident_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestHubWaited: where what one host has with several others makes no progress at the same time, that is told once, whoever waits; not where one of its connections went on, or others made none either.
func TestHubWaited(t *testing.T) {
	const scene = `
about: a host whose link is down for a while
hcas: {a: 10.2.0.1, b: 10.2.0.2, c: 10.2.0.3, d: 10.2.0.4}
attributes: {timeout: 16}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, c1: {hca: c, peer: a2}, a2: {hca: a, peer: c1}, a3: {hca: a, peer: d1}, d1: {hca: d, peer: a3}, b4: {hca: b, peer: c4}, c4: {hca: c, peer: b4}}
work:
  - {qp: a1, op: write, length: 1024, repeat: 400, every: 10ms}
  - {qp: c1, op: read, length: 1024, repeat: 400, every: 10ms}
  - {qp: a3, op: write, length: 1024, repeat: %d, every: 10ms}
  - {qp: b4, op: write, length: 1024, repeat: 400, every: 10ms}
taps: [middle]
errors:
  - {do: delay, from: b, to: a, nth: 100, delay: 900ms, hold: true, where: before}
  - {do: delay, from: a, to: c, nth: 100, delay: 900ms, hold: true, where: before}
`
	const (
		question = "whether other connections of these hosts stopped too"
		one      = "Connections of 10.2.0.1 with 2 hosts made no progress at the same time: "
		common   = "fits: the link or adapter of 10.2.0.1, or the host itself, that stopped for that long: it is what they have in common"
	)
	got := reasons(t, fmt.Sprintf(scene, 1))
	if strings.Count(got, "interrupted (proven)") != 1 || strings.Contains(got, question) || !strings.Contains(got, one) || !strings.Contains(got, common) || !strings.Contains(got, "hosts: 10.2.0.2 and 10.2.0.3; this is") {
		t.Error(got)
	}
	waits := strings.Replace(fmt.Sprintf(scene, 1), "from: b, to: a, nth: 100", "from: b, to: a, nth: 200", 1)
	waits = strings.Replace(waits, "{qp: a1, op: write", "{qp: b1, op: write, length: 1024, repeat: 400, every: 10ms}\n  - {qp: a1, op: write", 1)
	if got := reasons(t, waits); strings.Count(got, "interrupted (proven)") != 1 || !strings.Contains(got, one) || strings.Contains(got, "hosts waited") {
		t.Error("both wait:", got)
	}
	if got := reasons(t, fmt.Sprintf(scene, 400)); strings.Count(got, "interrupted (proven)") != 2 || strings.Contains(got, one) {
		t.Error("another went on:", got)
	}
	others := "  - {do: delay, from: c, to: b, nth: 100, delay: 900ms, hold: true, where: before}\n"
	if got := reasons(t, fmt.Sprintf(scene, 1)+others); strings.Contains(got, one) {
		t.Error("others made none either:", got)
	}
	between := "  - {qp: b4, op: write, length: 1024, repeat: 400, every: 10ms}\n"
	apart := strings.Replace(fmt.Sprintf(scene, 1), "  - {do: delay, from: a, to: c, nth: 100,", "  - {do: delay, from: c, to: b, nth: 100,", 1)
	apart = strings.NewReplacer("{hca: c, peer: a2}, a2: {hca: a, peer: c1}", "{hca: c, peer: d2}, d2: {hca: d, peer: c1}", "from: c, to: b, nth: 100", "from: d, to: c, nth: 100", between, "").Replace(apart)
	if got := reasons(t, apart); strings.Count(got, "interrupted (proven)") != 2 || strings.Count(got, "fits: a switch, link or route that all of this takes: what other hosts sent to others was not answered at the same time either") != 2 {
		t.Error("of other hosts:", got)
	}
}

// TestHubLost: where a host loses several others at the same time, that is told once; not where one of them goes on.
func TestHubLost(t *testing.T) {
	const scene = `
about: a host whose link fails
hcas: {a: 10.2.0.1, b: 10.2.0.2, c: 10.2.0.3}
attributes: {timeout: 12, retry_cnt: 3}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: c1}, c1: {hca: c, peer: a2}}
work: [{qp: a1, op: write, length: 1024, repeat: 300, every: 10ms}, {qp: a2, op: read, length: 1024, repeat: 300, every: 10ms}]
taps: [middle]
errors:
  - {do: drop, from: a, to: b, nth: 20, count: all, where: after}
`
	const one = "10.2.0.1 lost 2 hosts within "
	if got := reasons(t, scene+"  - {do: drop, from: a, to: c, nth: 20, count: all, where: after}\n"); strings.Count(got, "unanswered (proven)") != 1 || !strings.Contains(got, one) ||
		!strings.Contains(got, "fits: the link or adapter of 10.2.0.1, or a path that all of this takes: it is what they have in common") {
		t.Error(got)
	}
	if got := reasons(t, scene); strings.Contains(got, one) {
		t.Error(got)
	}
}

// TestHubLostBothWays: where a host loses others while these lose it, that is told once, and as a path that fails both ways; where it loses connections with hosts that go on with others, likewise.
func TestHubLostBothWays(t *testing.T) {
	const scene = `
about: a host whose link fails, and is seen to send
hcas: {a: 10.2.0.1, b: 10.2.0.2, c: 10.2.0.3}
attributes: {timeout: 12, retry_cnt: 3}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, c2: {hca: c, peer: a2}, a2: {hca: a, peer: c2}, a3: {hca: a, peer: c3}, c3: {hca: c, peer: a3}, b4: {hca: b, peer: c4}, c4: {hca: c, peer: b4}}
work:
  - {qp: a1, op: write, length: 1024, repeat: 300, every: 10ms}
  - {qp: c2, op: write, length: 1024, repeat: 300, every: 10ms}
  - {qp: a3, op: write, length: 1024, repeat: %d, every: 10ms}
  - {qp: b4, op: write, length: 1024, repeat: 100, every: 10ms}
taps: [middle]
errors:
  - {do: drop, from: a, to: b, nth: 20, count: all, where: after}
`
	const toC, fromC = "  - {do: drop, from: a, to: c, nth: 39, count: all, where: after}\n", "  - {do: drop, from: c, to: a, nth: 39, count: all, where: after}\n"
	const both = "that fails in both directions, after the tap"
	got := reasons(t, fmt.Sprintf(scene, 300)+toC+fromC)
	if strings.Count(got, "unanswered (proven)") != 1 || !strings.Contains(got, "Connections of 10.2.0.1 with 2 hosts failed within ") || strings.Contains(got, "others: went on") {
		t.Error(got)
	}
	one := strings.Replace(fmt.Sprintf(scene, 300), "  - {do: drop, from: a, to: b, nth: 20, count: all, where: after}\n", "", 1)
	if got := reasons(t, one+toC+fromC); !strings.Contains(got, both) {
		t.Error("with one host:", got)
	}
	here := strings.Replace(fmt.Sprintf(scene, 300), "  - {qp: c2, op: write, length: 1024, repeat: 300, every: 10ms}\n", "", 1) + strings.Replace(toC, "39", "20", 1)
	if got := reasons(t, strings.Replace(here, "repeat: 100,", "repeat: 300,", 1)); strings.Count(got, "unanswered (proven)") != 1 || !strings.Contains(got, "10.2.0.1 lost connections with 2 hosts within ") || strings.Contains(got, both) {
		t.Error("they go on with others:", got)
	}
}
