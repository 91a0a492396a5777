package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
)

// TestOneWay: where all that was lost is responses before the tap, and requests in the same direction, that direction comes first, and each of the
// requests seen counts once; not where some was lost the other way, or after the tap.
func TestOneWay(t *testing.T) {
	const scene = `
about: a target reads from a client and each sends small WRITEs to the other
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 1024, timeout: 14, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
taps: [middle]
work:
  - {qp: b1, op: read, length: 4096, repeat: 60, every: 100us}
  - {qp: a1, op: write, length: 64, repeat: 100, every: 50us}
errors:
`
	const (
		lost  = "  - {do: drop, from: b, to: a, op: read_response_middle, nth: NTH, where: WHERE}\n"
		first = "Packets from 10.1.0.1 to 10.1.0.2 were lost before the tap, at least "
	)
	answers := func(where string) string {
		s := ""
		for _, nth := range []string{"5", "25", "45", "65"} {
			s += strings.NewReplacer("NTH", nth, "WHERE", where, "from: b, to: a", "from: a, to: b").Replace(lost)
		}
		return s
	}
	for _, k := range []struct {
		name, errors string
		want, not    string
	}{
		{"answers", answers("before"), first + "4 times, and none the other way, as far as these retransmissions tell: 10.1.0.2 QP ", "late or overtaken"},
		{"and a request", answers("before") + "  - {do: drop, from: a, to: b, op: write, nth: 50, where: before}\n", first + "5 times", "late or overtaken"},
		{"after the tap", answers("after"), "late or overtaken", first},
		{"and some the other way", answers("before") + "  - {do: drop, from: b, to: a, op: read, nth: 30, where: before}\n", "", first},
		{"nothing", "", "", first},
		{"and a request, counted", answers("before") + "  - {do: drop, from: a, to: b, op: write, nth: 50, where: before}\n", " retransmitted 2 of 101 requests", "102 requests"},
	} {
		text := scene + k.errors
		if k.errors == "" {
			text = strings.TrimSuffix(text, "errors:\n")
		}
		if got := happened(t, frames(t, text), agent.Options{Timing: true}); !strings.Contains(got, k.want) || strings.Contains(got, k.not) {
			t.Errorf("%s: want %q, not %q: %s", k.name, k.want, k.not, got)
		}
	}
}
