package incident_test

import (
	"strings"
	"testing"

	"ibwitness/incident"
)

// TestUncompleted: a completion that is lost is told, whether later ones come or nothing more does, and one that nobody polls for; not where all come.
func TestUncompleted(t *testing.T) {
	const scene = `
hcas: {a: {address: 10.1.0.1FAULT}, b: 10.1.0.2}
attributes: {pmtu: 1024}
qps: {a1: {hca: a, peer: b1POLL}, b1: {hca: b, peer: a1}}
work:
  - {qp: a1, op: write, length: 4096, repeat: 10, every: 10ms}
  - {qp: b1, op: write, length: 64, at: 3s}
taps: [a]
`
	for _, k := range []struct{ name, fault, poll, want string }{
		{"all come", "", "", ""},
		{"one is lost", ", fault: completion-lost, fault_at: 3", "", "proven On 10.1.0.1 QP 0x9bc request 6000003 never completed, though later ones of its queue pair did"},
		{"the last is lost", ", fault: completion-lost, fault_at: 9", "", "possible On 10.1.0.1 QP 0x9bc request 6000009 was answered, and its completion is not in the log, which shows no poll of its completion queue since"},
		{"nobody polls", "", ", poll: false", "possible On 10.1.0.1 QP 0x9bc request 6000000 was answered, and its completion is not in the log, which shows no poll of its completion queue since"},
	} {
		got := ""
		for _, i := range logged(t, strings.NewReplacer("FAULT", k.fault, "POLL", k.poll).Replace(scene)) {
			if i.Kind == incident.Uncompleted {
				got += i.Certainty.String() + " " + i.What
			}
		}
		if !strings.HasPrefix(got, k.want) || k.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", k.name, got, k.want)
		}
	}
}
