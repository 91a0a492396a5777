package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
)

// TestRounds tells how often a requester went back, and why.
func TestRounds(t *testing.T) {
	const scene = `
about: WRITEs of which packets are lost, damaged or overtaken
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {timeout: 12}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
work: [{qp: a1, op: write, length: 8000, repeat: 6, every: 1ms}]
taps: [middle]
errors:
`
	const timer, nak = "by the requester's timer (nothing in the capture asked for it)", "by PSN sequence NAKs"
	for _, tt := range []struct {
		name, fault string
		want, not   []string
	}{
		{"a packet in the midst is lost before the tap", "{do: drop, from: a, op: write_middle, nth: 20}", []string{"in at least 1 round", "cost: at least ", "caused: once " + nak, "where: once before the tap"}, []string{timer}},
		{"the last packet of a message is lost before the tap", "{do: drop, from: a, op: write_last, nth: 6}", []string{"in at least 1 round", "cost: at least ", "caused: once " + timer, "where: once before the tap"}, []string{nak, "or on the way back"}},
		{"the last packet of a message is lost after the tap", "{do: drop, from: a, op: write_last, nth: 6, where: after}", []string{"in 1 round", "caused: once " + timer, "where: once after the tap, on the way to the receiver or there"}, []string{nak}},
		{"the last packet of a message is damaged", "{do: corrupt, from: a, op: write_last, nth: 6, bits: 1}", []string{"in 1 round", "caused: once " + timer}, []string{nak}},
	} {
		got := happened(t, frames(t, scene+"  - "+tt.fault+"\n"), agent.Options{})
		for _, w := range tt.want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: %q is not in %s", tt.name, w, got)
			}
		}
		for _, w := range tt.not {
			if strings.Contains(got, w) {
				t.Errorf("%s: %q is in %s", tt.name, w, got)
			}
		}
	}
}
