package incident_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/qp"
)

const shortage = `
about: receives that are posted late
hcas: {a: 10.1.0.1, b: 10.1.0.2, c: 10.1.0.3}
attributes: {min_rnr_timer: 14, timeout: 18, rnr_retry: 7}
qps:
  a1: {hca: a, peer: b1}
  b1: {hca: b, peer: a1}
  a2: {hca: a, peer: b2}
  b2: {hca: b, peer: a2}
  c1: {hca: c, peer: b3}
  b3: {hca: b, peer: c1}
taps: [b]
work:
  - {qp: a1, op: send, length: 1000}
  - {qp: b1, op: receive, length: 1000, at: 20ms}
  - {qp: a2, op: write, length: 1000, repeat: 3}
`

// TestShortages: a receiver that is not ready for several hosts at the same time is told once, with all of them; one that is not ready for one after the other is told for each.
func TestShortages(t *testing.T) {
	const together = "not-ready (proven): 10.1.0.2 was not ready for 2 hosts at the same time, "
	for name, tt := range map[string]struct {
		work string
		want bool
	}{
		"at the same time": {"  - {qp: c1, op: send, length: 1000, at: 1ms}\n  - {qp: b3, op: receive, length: 1000, at: 20ms}\n", true},
		"later":            {"  - {qp: c1, op: send, length: 1000, at: 100ms}\n  - {qp: b3, op: receive, length: 1000, at: 120ms}\n", false},
		"one host":         {"", false},
	} {
		got := happened(t, frames(t, shortage+tt.work), agent.Options{})
		if strings.Contains(got, together) != tt.want || strings.Contains(got, "hosts: also 10.1.0.") != tt.want || !strings.Contains(got, "not-ready") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestShortageSums: where several queue pairs were refused, of one host or of several, the headline and the cost are sums over all of them, and it is said of how many; of one, they are those of that.
func TestShortageSums(t *testing.T) {
	const (
		both  = "  - {qp: a2, op: send, length: 3000}\n  - {qp: b2, op: receive, length: 3000, at: 20ms}\n"
		third = "  - {qp: c1, op: send, length: 1000}\n  - {qp: b3, op: receive, length: 1000, at: 20ms}\n"
	)
	for name, tt := range map[string]struct {
		work     string
		want     []string
		unwanted string
	}{
		"one queue pair":       {"", []string{"not-ready (proven): 10.1.0.2 QP", "times: more than 7, so its requester retries without end (rnr_retry 7)"}, "queue pairs"},
		"two of one host":      {both, []string{"10.1.0.2 was not ready for 2 queue pairs of 10.1.0.1, ", "of all 2 queue pairs"}, "hosts: "},
		"and one of another":   {both + third, []string{"10.1.0.2 was not ready for 2 hosts at the same time, ", "of all 3 queue pairs", "on 2 queue pairs, up to "}, ""},
		"one of each of these": {third, []string{"of all 2 queue pairs"}, "on 2 queue pairs"},
	} {
		list := frames(t, shortage+tt.work)
		r := judged(t, list, agent.Options{})
		naks := 0
		for k := range r.Connections {
			for e := range r.Connections[k].Ends {
				if x := r.Connections[k].Ends[e].Trouble; x != nil {
					naks += int(x.RNR.NAKs)
				}
			}
		}
		contains(t, name, toldOf(r), append(tt.want, fmt.Sprintf("%d times", naks)), []string{cmp.Or(tt.unwanted, "nothing of this")})
	}
}

// TestShortageOfFew: so few refusals of one request as a finite RNR retry count allows say nothing of that.
func TestShortageOfFew(t *testing.T) {
	got := happened(t, frames(t, strings.Replace(shortage, "at: 20ms", "at: 5ms", 1)), agent.Options{})
	if !strings.Contains(got, "worst: one request was refused ") || strings.Contains(got, "without end") {
		t.Error(got)
	}
}

// TestOthersReady: that a receiver was ready on the other connections of the same hosts is said; not where it was not, nor where a request waits there.
func TestOthersReady(t *testing.T) {
	const others = "others: it was ready for all that came on 1 other connection between the same hosts"
	if got := happened(t, frames(t, shortage), agent.Options{}); !strings.Contains(got, others) {
		t.Error(got)
	}
	late := "  - {qp: a2, op: send, length: 1000, at: 40ms}\n  - {qp: b2, op: receive, length: 1000, at: 60ms}\n"
	if got := happened(t, frames(t, shortage+late), agent.Options{}); strings.Contains(got, "others: it was ready") || !strings.Contains(got, "not-ready") {
		t.Error(got)
	}
	r := judged(t, frames(t, shortage), agent.Options{})
	for k := range r.Connections {
		for e := range r.Connections[k].Ends {
			if x := &r.Connections[k].Ends[e]; x.Messages == 3 {
				x.Stalled, x.Trouble = true, &qp.Trouble{Now: qp.Stall{Since: r.First, Begun: r.First, Last: r.First}}
			}
		}
	}
	if got := toldOf(r); strings.Contains(got, "others: it was ready") || !strings.Contains(got, "not-ready") {
		t.Error(got)
	}
}
