package incident_test

import (
	"strconv"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// TestTrimRepairs: a receiver that asks for none of the packets that were trimmed last, so that a timer repairs each, likely makes no use of trimmed
// packets; where it asks for them, as others come whole after them, that is told, and nothing of its use.
func TestTrimRepairs(t *testing.T) {
	const scene = `
about: three hosts write to a fourth
hcas: {a: 10.0.0.1, b: 10.0.0.2, c: 10.0.0.3, d: 10.0.0.4}
attributes: {pmtu: 1024, timeout: 12}
qps: {a1: {hca: a, peer: d1}, d1: {hca: d, peer: a1}, b1: {hca: b, peer: d2}, d2: {hca: d, peer: b1}, c1: {hca: c, peer: d3}, d3: {hca: d, peer: c1}}
work: [{qp: a1, op: write, length: 16384, repeat: 3}, {qp: b1, op: write, length: 16384, repeat: 3}, {qp: c1, op: write, length: 16384, repeat: 3}]
taps: [middle]
errors:
  - {do: drop, from: a, to: d, op: request, nth: NTH, where: after}
  - {do: drop, from: b, to: d, op: request, nth: NTH, where: after}
  - {do: drop, from: c, to: d, op: request, nth: NTH, where: after}
`
	for _, k := range []struct {
		nth       int
		want, not []string
	}{
		{48, []string{
			"10.0.0.4 likely makes no use of them: it asked for none of at least 3, each of which waited ",
			"repaired: no PSN sequence NAK asked for one; for at least 3 none came, and the timer of the sender ran out, ",
			"recovery: complete: ", "; timers ran out 3 times", "10.0.0.1 1, 10.0.0.2 1 and 10.0.0.3 1; the first: frame ",
		}, nil},
		{20, []string{"repaired: 3 PSN sequence NAKs for a trimmed packet, ", "recovery: complete: 10.0.0.4 has answered all that these hosts sent to it: each of these packets came whole in the end; no timer ran out"}, []string{"makes no use", "the timer of the sender ran out"}},
	} {
		list := frames(t, strings.ReplaceAll(scene, "NTH", strconv.Itoa(k.nth)))
		trimNth(list, k.nth)
		contains(t, strconv.Itoa(k.nth), toldOf(judged(t, list, agent.Options{})), k.want, k.not)
	}
}

// trimNth trims one of the requests of each host, by number.
func trimNth(list []fabricagent.Frame, nth int) {
	n := map[packet.Addr]int{}
	for f := range list {
		var p packet.Packet
		if !packet.DecodeIP(&p, list[f].Data[14:], int(list[f].Len)-14) || !p.Info().Request {
			continue
		}
		if n[p.Src]++; n[p.Src] == nth {
			trim(&list[f], 64, 50)
		}
	}
}

// TestTrimmedEnds: the time that the end of a message waited until the next one had the receiver ask for it is time without progress; not where
// packets after it came at once.
func TestTrimmedEnds(t *testing.T) {
	const scene = `
about: three hosts write to a fourth, each after a pause
hcas: {a: 10.0.0.1, b: 10.0.0.2, c: 10.0.0.3, d: 10.0.0.4}
attributes: {pmtu: 1024, timeout: 16}
qps: {a1: {hca: a, peer: d1}, d1: {hca: d, peer: a1}, b1: {hca: b, peer: d2}, d2: {hca: d, peer: b1}, c1: {hca: c, peer: d3}, d3: {hca: d, peer: c1}}
work: [{qp: a1, op: write, length: 16384, repeat: 3, every: 40ms}, {qp: b1, op: write, length: 16384, repeat: 3, every: 40ms}, {qp: c1, op: write, length: 16384, repeat: 3, every: 40ms}]
taps: [middle]
errors:
  - {do: drop, from: a, to: d, op: request, nth: NTH, where: after}
  - {do: drop, from: b, to: d, op: request, nth: NTH, where: after}
  - {do: drop, from: c, to: d, op: request, nth: NTH, where: after}
`
	for _, k := range []struct {
		nth       int
		want, not string
	}{
		{32, "cost: 120ms without progress in all of the queue pairs that send to it, up to 40ms at a time; ", ""},
		{20, "without progress in all of the queue pairs that send to it", "ms without progress"},
	} {
		list := frames(t, strings.ReplaceAll(scene, "NTH", strconv.Itoa(k.nth)))
		trimNth(list, k.nth)
		got := toldOf(judged(t, list, agent.Options{}))
		if !strings.Contains(got, k.want) || k.not != "" && strings.Contains(got, k.not) {
			t.Errorf("%d: %s", k.nth, got)
		}
	}
}
