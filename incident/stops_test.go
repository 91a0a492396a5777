package incident_test

import (
	"strings"
	"testing"
)

// TestStops: interruptions that follow one another shortly are one, with their number and time; those that are seconds apart are not, and a single one has no number. Those of several
// connections that overlap are one, whenever they began.
func TestStops(t *testing.T) {
	const one = `
about: WRITEs of which the last packet is lost now and then
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {timeout: 15}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
work: [{qp: a1, op: write, length: 1000, repeat: 20, every: 500ms}]
taps: [middle]
`
	lost := func(n string) string { return "{do: drop, from: a, nth: " + n + ", count: 1, where: after}" }
	const two = `
about: WRITEs and READs that a path holds up
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {timeout: 18}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}}
work: [{qp: a1, op: write, length: 1000, repeat: 400, every: 10ms}, {qp: a2, op: read, length: 1000, repeat: 400, every: 10ms, at: 5ms}]
taps: [a]
`
	const question, more = "whether other connections of these hosts stopped too", "1 more connection between the same hosts likewise"
	for _, k := range []struct {
		name, text string
		incidents  int
		want, not  []string
	}{
		{"shortly after", one + "errors: [" + lost("2") + ", " + lost("4") + "]\n", 1, []string{"repeated: twice on this connection, ", question}, nil},
		{"four times", one + "errors: [" + lost("2") + ", " + lost("4") + ", " + lost("6") + ", " + lost("8") + "]\n", 1, []string{"repeated: 4 times on this connection, "}, []string{"at least"}},
		{"seconds after", one + "errors: [" + lost("2") + ", " + lost("9") + "]\n", 2, []string{question}, []string{"repeated"}},
		{"once", one + "errors: [" + lost("2") + "]\n", 1, []string{question}, []string{"repeated"}},
		{"two connections", two + "errors: [{do: delay, from: b, nth: 200, delay: 2s, hold: true}]\n", 1, []string{more}, []string{question, "repeated"}},
	} {
		got := reasons(t, k.text)
		if n := strings.Count(got, "interrupted (proven)"); n != k.incidents {
			t.Errorf("%s: %d interruptions in %s", k.name, n, got)
		}
		for _, w := range k.want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: not %q in %s", k.name, w, got)
			}
		}
		for _, w := range k.not {
			if strings.Contains(got, w) {
				t.Errorf("%s: %q in %s", k.name, w, got)
			}
		}
	}
}
