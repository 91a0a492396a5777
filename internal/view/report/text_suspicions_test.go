package report

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/incident"
	"ibwitness/packet"
	"ibwitness/rule"
)

// TestSuspicions: the verdict line names only suspicions that no incident between the same hosts, at the same time, would explain, and counts
// the others; where there are none of the first, it names nobody.
func TestSuspicions(t *testing.T) {
	addr := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	at := int64(10 * time.Second)
	suspicion := func(r rule.ID, of byte, time int64) rule.Finding {
		return rule.Finding{Rule: r, Class: rule.Unproven, Time: time, Accused: rule.Endpoint{Addr: addr(of), QPN: 17, QPNKnown: true}, Peer: rule.Endpoint{Addr: addr(1), QPN: 1, QPNKnown: true}}
	}
	const one = "NOT PROVEN no violation is proven, but 1 incident; open: 1 suspicion of "
	for _, k := range []struct {
		name     string
		findings []rule.Finding
		want     string
	}{
		{"of losses", []rule.Finding{suspicion(rule.RCRSP005, 2, at)}, "INCIDENT no violation is proven, but 1 incident; 1 suspicion of RC-RSP-005 (ack-missing); "},
		{"and another", []rule.Finding{suspicion(rule.RCRSP005, 2, at), suspicion(rule.RCRSP043, 2, at)}, one + "RC-RSP-043 (nak-duplicate) against 10.0.0.2; what happened would explain 1 more"},
		{"at another time", []rule.Finding{suspicion(rule.RCRSP005, 2, 9*at), suspicion(rule.RCRSP043, 2, at)}, "NOT PROVEN no violation is proven, but 1 incident; open: 2 suspicions of 2 rules against 10.0.0.2"},
		{"of other hosts", []rule.Finding{suspicion(rule.RCRSP005, 3, at), suspicion(rule.RCRSP043, 2, at)}, "NOT PROVEN no violation is proven, but 1 incident; open: 2 suspicions of 2 rules against 10.0.0.3"},
	} {
		r := &agent.Result{RDMA: 4, Packets: 4, Findings: k.findings, Connections: []agent.Connection{{Ends: [2]agent.End{{Addr: addr(1)}, {Addr: addr(2)}}}}}
		shown := &text{}
		run := &Run{Result: r, told: true, incidents: []incident.Incident{{Kind: incident.Loss, Local: incident.Party{Addr: addr(1)}, Peer: incident.Party{Addr: addr(2)}, Begin: at, End: at}}}
		var out strings.Builder
		if err := shown.Report(&out, run); err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(out.String(), "What happened")
		if got := strings.Join(strings.Fields(head), " "); !strings.HasPrefix(got, k.want) || strings.HasPrefix(got, "INCIDENT") && strings.Contains(got, " against ") {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}
