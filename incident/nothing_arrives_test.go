package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/incident"
)

// TestNothingArrives: where a peer takes none of the answers of a requester that it does not answer, on the same connection, nothing that this sends arrives; where others between the hosts go on,
// it is one path of several. Not where the peer has sent nothing, or took the answers.
func TestNothingArrives(t *testing.T) {
	const scene = `
about: a path that fails in one direction
hcas: {a: 10.1.0.1, b: 10.1.0.2, c: 10.1.0.3}
attributes: {timeout: 12, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}, a3: {hca: a, peer: c3}, c3: {hca: c, peer: a3}}
taps: [middle]
work:
  - {qp: a1, op: write, length: 1000, repeat: 3, every: 1ms}
`
	const (
		others  = "  - {qp: a2, op: write, length: 100, repeat: 40, every: 10ms}\n  - {qp: b2, op: write, length: 100, repeat: 40, every: 10ms}\n"
		another = "  - {qp: a3, op: write, length: 100, repeat: 60, every: 10ms}\n"
		back    = "  - {qp: b1, op: write, length: 100, at: 30ms}\n"
		lost    = "errors:\n  - {do: drop, from: a, to: b, psn: 0x100002, count: all, where: after}\n"
		acks    = "  - {do: drop, from: a, to: b, op: ack, psn: 0x200000, count: all, where: after}\n"
		told    = "arrives: nothing: 10.1.0.2 retransmitted a request of its own 7 times on this connection"
		other   = "10.1.0.1 exchanged packets with 10.1.0.3 meanwhile: its own adapter and link work"
		path    = "one path of several from 10.1.0.1 to 10.1.0.2 that fails, which this queue pair takes"
		whole   = "a path that fails from 10.1.0.1 to 10.1.0.2, and not the other way"
	)
	for name, tt := range map[string]struct {
		text string
		told bool
		fits string
	}{
		"nothing arrives":       {back + lost + acks, true, whole},
		"others go on":          {back + others + lost + acks, true, path},
		"others begin later":    {back + strings.ReplaceAll(others, "every: 10ms", "every: 10ms, at: 20ms") + lost + acks, true, whole},
		"another host":          {back + another + lost + acks, true, whole},
		"the answers are taken": {back + others + lost, false, ""},
		"nothing was answered":  {others + lost, false, ""},
	} {
		r := judged(t, frames(t, scene+tt.text), agent.Options{})
		got := toldOf(r)
		if strings.Contains(got, "control: "+other) != (name == "another host") {
			t.Errorf("%s: %s", name, got)
		}
		for _, i := range incident.Of(r)[:1] {
			if strings.Contains(got, told) != tt.told || !strings.HasPrefix(i.FitsWith[0], tt.fits) || !tt.told && (strings.HasPrefix(i.FitsWith[0], path) || strings.HasPrefix(i.FitsWith[0], whole)) || !strings.Contains(i.What, "10.1.0.1 QP 0x9bc sent") {
				t.Errorf("%s: %s\n%q", name, got, i.FitsWith)
			}
		}
	}
}
