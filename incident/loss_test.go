package incident_test

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/incident"
)

// TestLossLasts: a loss lasts until what was lost is answered and the last packet is retransmitted, and one that takes a single packet no longer than its answer.
func TestLossLasts(t *testing.T) {
	const head = `
about: a long WRITE of which a packet is lost
hcas: {a: 10.1.0.1, b: 10.1.0.2}
link: {delay: 10us, rate: 1G}
attributes: {pmtu: 1024, timeout: 15}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
taps: [a]
`
	for _, k := range []struct {
		name, more  string
		least, most time.Duration
	}{
		{"one round of many packets", "work: [{qp: a1, op: write, length: 131072}]\nerrors: [{do: drop, from: a, op: request, nth: 2, where: after}]\n", 500 * time.Microsecond, 3 * time.Millisecond},
		{"one packet", "work: [{qp: a1, op: write, length: 1024}, {qp: a1, op: write, length: 1024}]\nerrors: [{do: drop, from: a, op: request, nth: 1, where: after}]\n", time.Microsecond, 100 * time.Microsecond},
	} {
		list := incident.Of(judged(t, frames(t, head+k.more), agent.Options{}))
		if len(list) != 1 || list[0].Kind != incident.Loss {
			t.Fatalf("%s: %+v", k.name, list)
		}
		if d := time.Duration(list[0].End - list[0].Begin); d < k.least || d > k.most {
			t.Errorf("%s: it lasts %v", k.name, d)
		}
	}
}

// TestLossAfterTheTap: what a receiver asks for several times that had passed the tap may have been overtaken after it; what is missing at the tap
// was lost, and so was what it asks for once, most likely.
func TestLossAfterTheTap(t *testing.T) {
	const scene = `
about: a WRITE of which a packet is lost
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 1024, timeout: 15}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
taps: [middle]
work: [{qp: a1, op: write, length: 131072, repeat: 4, every: 50us}]
errors: [`
	const overtaken = "packets that overtake one another after the tap"
	drop := func(where string, psns ...string) (text string) {
		for _, psn := range psns {
			text += "{do: drop, from: a, psn: " + psn + ", where: " + where + "}, "
		}
		return text
	}
	for errors, want := range map[string]bool{
		drop("after", "+2", "+130", "+260"): true, drop("before", "+2", "+130", "+260"): false, drop("after", "+2"): false,
	} {
		if got := reasons(t, scene+errors+"]\n"); !strings.Contains(got, "loss (proven)") || strings.Contains(got, overtaken) != want {
			t.Errorf("%s: %s", errors, got)
		}
	}
}
