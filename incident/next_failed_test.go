package incident_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/incident"
	"ibwitness/packet"
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

// TestNextWorked: where requests were answered on the next connection before one was not, that is told; not where the first was not.
func TestNextWorked(t *testing.T) {
	const scene = `
about: a connection that nothing answers any more, and another after it
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {timeout: 12, retry_cnt: 3}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}, a3: {hca: a, peer: b3}, b3: {hca: b, peer: a3}}
work:
  - {qp: a3, op: write, length: 100, repeat: 60, every: 20ms}
  - {qp: a1, op: write, length: 100, repeat: 2, every: 5ms}
  - {qp: a2, op: write, length: 100, at: 700ms, repeat: 20, every: 1ms}
taps: [middle]
errors:
  - {do: drop, from: a, psn: 0x100001, count: all, where: after}
`
	const worked = ", on which 19 messages were answered, and then a request was never answered either"
	for psn, want := range map[string]bool{"0x300013": true, "0x300000": false} {
		if got := happened(t, frames(t, scene+"  - {do: drop, from: a, psn: "+psn+", count: all, where: after}\n"), agent.Options{}); !strings.Contains(got, "began another connection") || strings.Contains(got, worked) != want || strings.Contains(got, ", on which a request was never") == want {
			t.Errorf("%s: %s", psn, got)
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

// TestSameQPN: where the next connection, which is never answered either, goes to the same QPN, that this is gone comes first; not where it goes to another one.
func TestSameQPN(t *testing.T) {
	const scene = `
about: a connection that nothing answers any more, and another after it
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {timeout: 12, retry_cnt: 3}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}, a3: {hca: a, peer: b3}, b3: {hca: b, peer: a3}}
work:
  - {qp: a3, op: write, length: 100, repeat: 60, every: 20ms}
  - {qp: a1, op: write, length: 100, repeat: 2, every: 5ms}
  - {qp: a2, op: write, length: 100, at: 700ms}
taps: [middle]
errors:
  - {do: drop, from: a, psn: 0x100001, count: all, where: after}
  - {do: drop, from: a, psn: 0x300000, count: all, where: after}
`
	list := frames(t, scene)
	other := slices.Clone(list)
	var to uint32
	for k := range list {
		var p packet.Packet
		packet.DecodeIP(&p, list[k].Data[14:], int(list[k].Len)-14)
		switch p.PSN {
		case 0x100000:
			to = max(to, p.DestQP)
		case 0x300000:
			changed(&list[k], func(p *packet.Packet) { p.DestQP = to })
		}
	}
	const same, gone = " to the same QPN (0x", "a requester that still uses QPNs of 10.1.0.2 which are gone"
	for want, frames := range map[bool][]fabricagent.Frame{true: list, false: other} {
		r := judged(t, frames, agent.Options{})
		fits := incident.Of(r)[0].FitsWith[0]
		if got := toldOf(r); strings.Contains(got, same) != want || strings.HasPrefix(fits, gone) != want {
			t.Errorf("%v: %s\n%s", want, got, fits)
		}
	}
}

// TestMoreAttempts: of all connections to the same QPN that nothing answers it is told how many there were, whatever others are made meanwhile; not of those to other QPNs.
func TestMoreAttempts(t *testing.T) {
	const scene = `
about: three connections that nothing answers
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {timeout: 12, retry_cnt: 3}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}, a3: {hca: a, peer: b3}, b3: {hca: b, peer: a3}, a4: {hca: a, peer: b4}, b4: {hca: b, peer: a4}}
work:
  - {qp: a3, op: write, length: 100, repeat: 90, every: 20ms}
  - {qp: a1, op: write, length: 100, at: 5ms}
  - {qp: a2, op: write, length: 100, at: 700ms}
  - {qp: a4, op: write, length: 100, at: 1400ms}
taps: [middle]
errors:
  - {do: drop, from: a, psn: 0x100000, count: all, where: after}
  - {do: drop, from: a, psn: 0x300000, count: all, where: after}
  - {do: drop, from: a, psn: 0x700000, count: all, where: after}
`
	list := frames(t, scene)
	other := slices.Clone(list)
	var to uint32
	for k := range list {
		var p packet.Packet
		packet.DecodeIP(&p, list[k].Data[14:], int(list[k].Len)-14)
		switch p.PSN {
		case 0x100000:
			to = p.DestQP
		case 0x300000, 0x700000:
			changed(&list[k], func(p *packet.Packet) { p.DestQP = to })
		}
	}
	const told = "then: the same hosts began 2 more connections to the same QPN (0x"
	for want, frames := range map[bool][]fabricagent.Frame{true: list, false: other} {
		if got := happened(t, frames, agent.Options{}); strings.Contains(got, told) != want || want && !strings.Contains(got, "none of which was ever answered: the first ") {
			t.Errorf("%v: %s", want, got)
		}
	}
}
