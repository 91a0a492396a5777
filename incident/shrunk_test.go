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
		said = "packets with more than 1,024 bytes of payload were answered before, and only smaller ones since."
		fits = "whose MTU became smaller then, by a change of a route, a switch or an interface"
	)
	all := []string{said, fits, "carried at most 1,024 bytes in a packet, the newest ", "; 2 requests with larger ones were not, one on each of as many connections", "before: a larger one was answered last "}
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
