package incident_test

import (
	"strings"
	"testing"
)

// TestFromTheFirst: where it is the first request of a connection that waits, its peer may not have been ready; not where others were answered before.
func TestFromTheFirst(t *testing.T) {
	const scene = `
about: a request that is answered only in the end
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {timeout: 14, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
taps: [middle]
work: [{qp: a1, op: write, length: 100, repeat: 20, every: 200ms}]
errors:
  - {do: drop, from: a, to: b, op: request, nth: %, count: 3, where: after}
`
	for nth, want := range map[string]bool{"1": true, "5": false} {
		got := reasons(t, strings.Replace(scene, "%", nth, 1))
		if strings.Contains(got, "fits: a queue pair of 10.1.0.2 that was not in RTR yet") != want || !strings.Contains(got, "interrupted (proven)") {
			t.Errorf("request %s: %s", nth, got)
		}
	}
}

// TestLossOfCongestion: losses on a way on which many packets are marked come after the congestion, which fits them first.
func TestLossOfCongestion(t *testing.T) {
	lossy := strings.Replace(congested, "taps: [b]", "  - {do: drop, from: a, to: b, op: write, psn: +500}\ntaps: [b]", 1)
	got := reasons(t, lossy)
	if at := strings.Index(got, "congestion (proven)"); at < 0 || strings.Index(got, "loss (proven)") < at || !strings.Contains(got, "fits: the congestion that marks of the network show, see there") {
		t.Error(got)
	}
	few := strings.Replace(lossy, "+400..+463", "+400..+404", 1)
	if got := reasons(t, few); !strings.Contains(got, "loss (proven)") || strings.Contains(got, "the congestion that marks") {
		t.Errorf("few marks: %s", got)
	}
}
