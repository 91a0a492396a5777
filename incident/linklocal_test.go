package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/incident"
)

// TestLinkLocal: where nothing answers a link-local address, that it is one may be why; of another it is not said, nor of requests that are answered.
func TestLinkLocal(t *testing.T) {
	const scene = `
about: a connection that nothing answers
hcas: {a: "%::1", b: "%::2"}
attributes: {timeout: 12, retry_cnt: 3}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
work:
  - {qp: a1, op: write, length: 100, repeat: 3}
  - {qp: a1, op: write, length: 100, at: 1s}
taps: [middle]
`
	const lost = "errors: [{do: drop, from: a, to: b, count: all, where: after}]\n"
	for _, tt := range []struct {
		prefix, errors string
		want           bool
	}{{"fe80", lost, true}, {"2001:db8", lost, false}, {"fe80", "", false}} {
		var fits []string
		for _, i := range incident.Of(judged(t, frames(t, strings.ReplaceAll(scene, "%", tt.prefix)+tt.errors), agent.Options{})) {
			fits = append(fits, i.FitsWith...)
		}
		if strings.Contains(strings.Join(fits, "; "), "link-local addresses") != tt.want || (len(fits) > 0) != (tt.errors != "") {
			t.Errorf("%s, %s: %q", tt.prefix, tt.errors, fits)
		}
	}
}
