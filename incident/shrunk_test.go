package incident_test

import (
	"strings"
	"testing"
)

// TestShrunk: large requests or responses that vanish from a time on, while smaller ones are answered, are told so where larger ones were answered before; not where one as large was answered since, or nothing was.
func TestShrunk(t *testing.T) {
	const scene = `
about: a path whose MTU becomes smaller
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 4096, timeout: 14, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}, a3: {hca: a, peer: b3}, b3: {hca: b, peer: a3}}
work:
  - {qp: a1, op: OP, length: 16384, repeat: 5, every: 1ms}
  - {qp: a2, op: OP, length: 16384, repeat: 5, every: 1ms}
  - {qp: a3, op: OP, length: 1000, repeat: SMALL, every: 1ms}
  - {qp: a1, op: OP, length: 16384, at: 40ms}
  - {qp: a2, op: OP, length: 16384, at: 50ms}
taps: [middle]
errors:
  - {do: drop, from: FROM, op: [PACKETS_first, PACKETS_middle, PACKETS_last], nth: 41, count: COUNTWHERE}
`
	const (
		said = "RDMA packets with more than 1,024 bytes of payload were answered before, and only smaller ones since."
		fits = "whose MTU became smaller then, by a change of a route, a switch or an interface"
	)
	all := []string{said, fits, "carried at most 1,024 bytes in an RDMA packet, the newest ", "; 2 requests with larger ones were not, the oldest on each of as many connections", "before: a larger one was answered last "}
	for _, k := range []struct {
		name, op, from, packets, small, count string
		told                                  bool
	}{
		{"responses", "read", "b", "read_response", "400", "all", true},
		{"requests", "write", "a", "write", "400", "all", true},
		{"responses, and nothing is answered since", "read", "b", "read_response", "30", "all", false},
		{"few responses", "read", "b", "read_response", "400", "10", false},
		{"few requests", "write", "a", "write", "400", "10", false},
	} {
		got := measuredFrames(t, frames(t, strings.NewReplacer("OP", k.op, "FROM", k.from, "PACKETS", k.packets, "SMALL", k.small, "COUNT", k.count, "WHERE", map[string]string{"a": ", where: after"}[k.from]).Replace(scene)))
		if k.told {
			contains(t, k.name, got, all, nil)
		} else {
			contains(t, k.name, got, nil, []string{said, fits})
		}
	}
}

// TestNotShrunk: where a request as large was answered that was sent after one that is not, on another queue pair, the path MTU is not why; nor where a small one after it brings no NAK.
func TestNotShrunk(t *testing.T) {
	const scene = `
about: two of four queue pairs whose packets are lost
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 4096, timeout: 14, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2, psn: 0x200000}, b2: {hca: b, peer: a2},
  a3: {hca: a, peer: b3}, b3: {hca: b, peer: a3}, a4: {hca: a, peer: b4}, b4: {hca: b, peer: a4}}
work:
  - {qp: a1, op: write, length: 16384, repeat: 5, every: 1ms}
  - {qp: a2, op: write, length: 16384, repeat: 5, every: 1ms}
  - {qp: a3, op: write, length: 1000, repeat: 400, every: 1ms}
  - {qp: a1, op: write, length: 16384, at: 40ms}
  - {qp: a2, op: write, length: 16384, at: 40100us}
  - {qp: a4, op: write, length: 16384, repeat: 2, every: LARGE}
taps: [middle]
errors:
  - {do: drop, from: a, psn: 0x100014..0x100020, count: all, where: after}
  - {do: drop, from: a, psn: 0x200014..0x200020, count: all, where: after}
`
	const (
		mtu  = "whose MTU became smaller then"
		dead = "Its QP 0x"
		also = " answers nothing since then either (within 99.8µs); it went on sending on 2 others between the same hosts, up to +0."
		fits = "fits: one path or more of several from 10.1.0.1 to 10.1.0.2 that fail, which these queue pairs take (UDP source ports "
	)
	const (
		small   = "  - {qp: a1, op: write, length: 100, at: 40ms}\n"
		refuted = "size: not why: packets of this queue pair after it, with 100 bytes of payload at the least, bring no NAK for what is before them"
		process = "fits: queue pairs of 10.1.0.2 that were destroyed or are in the error state: their process ended, was killed or gave up"
	)
	for _, k := range []struct {
		large, behind string
		want, not     []string
	}{
		{"40050us", "", []string{dead, also, fits, ", PSN 0x200014 in frame "}, []string{mtu, "only smaller ones since", "ping -M do"}},
		{"30ms", "", []string{mtu, "only smaller ones since"}, []string{refuted, process}},
		{"40050us", small, []string{dead, fits}, []string{mtu, process, "ping -M do"}},
		{"30ms", small, []string{refuted}, []string{mtu, "only smaller ones since", "ping -M do"}},
	} {
		contains(t, k.large+k.behind, measuredFrames(t, frames(t, strings.NewReplacer("LARGE", k.large, "taps:", k.behind+"taps:").Replace(scene))), k.want, k.not)
	}
	// A small one that arrives brings one NAK for all that is before it, and no other.
	contains(t, "a NAK asked for it", measuredFrames(t, frames(t, strings.NewReplacer("LARGE", "30ms", "taps:", small+"taps:", "0x100020", "0x100017").Replace(scene))),
		[]string{"asked for it with a PSN sequence NAK", mtu, "only smaller ones since"}, []string{"not why"})
}
