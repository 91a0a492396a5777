package incident_test

import (
	"fmt"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/incident"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/verifier/cm"
)

// TestAcceptedShorter: where an NVMe controller refuses a queue since its hsqsize is not valid, the greatest with which it has accepted one of the same kind proves the limit; not one of another kind, service or host, a longer one, nor
// where another status is the reason.
func TestAcceptedShorter(t *testing.T) {
	addr := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	const service, told = "TCP port 4420", "others: 10.0.0.9 accepted the admin queue of 10.0.0.3 with hsqsize 31 in frame 3, for the same service: it takes that there, and not 63"
	for _, tt := range []struct {
		name    string
		queue   string
		size    uint16
		service string
		host    byte
		status  string
		want    bool
	}{
		{"shorter", "queue 0", 31, service, 9, "4 (invalid host send queue size)", true},
		{"an I/O queue", "queue 1", 31, service, 9, "4 (invalid host send queue size)", false},
		{"longer", "queue 0", 127, service, 9, "4 (invalid host send queue size)", false},
		{"for another service", "queue 0", 31, "TCP port 4421", 9, "4 (invalid host send queue size)", false},
		{"another host", "queue 0", 31, service, 8, "4 (invalid host send queue size)", false},
		{"another reason", "queue 0", 31, service, 9, "6 (no resources)", false},
	} {
		r := &agent.Result{Last: second(9)}
		for n, size := range []uint16{15, tt.size} {
			client, target := rule.Endpoint{Addr: addr(3), QPN: uint32(n + 1), QPNKnown: true}, rule.Endpoint{Addr: addr(tt.host), QPN: uint32(n + 101), QPNKnown: true}
			c := agent.Connection{PairedBy: agent.ByCM, Upper: &agent.Upper{Queue: tt.queue, HSQSize: size}}
			c.Ends[0].Addr, c.Ends[0].QPN, c.Ends[1].Addr, c.Ends[1].QPN = client.Addr, client.QPN, target.Addr, target.QPN
			r.Connections = append(r.Connections, c)
			r.Findings = append(r.Findings, rule.Finding{Rule: rule.EvConnect, Class: rule.Event, Time: second(int64(2 + n)), Frame: uint64(2 + n), Accused: client, Peer: target, Detail: tt.service})
		}
		refusal := cm.Refusal{Reason: mad.RejConsumer, Service: service, Private: fmt.Sprintf("NVMe status %s: queue 0, hrqsize 64, hsqsize 63", tt.status)}
		r.Findings = append(r.Findings, rule.Finding{Rule: rule.EvReject, Class: rule.Event, Time: second(5), Frame: 5, Accused: rule.Endpoint{Addr: addr(9)}, Peer: rule.Endpoint{Addr: addr(1)}, Detail: refusal.String()})
		if got := toldOf(r); strings.Contains(got, told) != tt.want && (tt.size != 127 || strings.Contains(got, "127 in frame")) || len(incident.Of(r)) != 1 {
			t.Errorf("%s: %s", tt.name, got)
		}
	}
}
