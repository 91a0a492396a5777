package incident_test

import (
	"fmt"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/verifier/cm"
)

// TestLimitOverAll: a host that refuses two clients when four connections of all are open, two of them of a third since before the capture, takes four of all.
// Not where another number is open at the second refusal, only one client is refused, or none has more than the one that is refused.
func TestLimitOverAll(t *testing.T) {
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	const service = "TCP port 4420"
	for _, k := range []struct {
		name          string
		ended, second byte // of how many connections of client 3 end between; the second client that is refused
		held          int  // of client 3
		want          bool
	}{{"two clients", 0, 2, 3, true}, {"one ended between", 1, 2, 3, false}, {"one client", 0, 1, 3, false}, {"as many of each", 0, 2, 1, false}} {
		r := &agent.Result{First: second(1), Last: second(60), RDMA: 80}
		qpn := uint32(20)
		event := func(id rule.ID, at int64, client byte, q uint32, detail string) {
			r.Findings = append(r.Findings, rule.Finding{
				Rule: id, Class: rule.Event, Time: at, Frame: uint64(len(r.Findings) + 1), Detail: detail,
				Accused: rule.Endpoint{Addr: host(client), QPN: q, QPNKnown: true}, Peer: rule.Endpoint{Addr: host(9), QPN: q + 100, QPNKnown: true},
			})
		}
		connection := func(client byte, at, over int64, by agent.PairedBy) {
			qpn++
			c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, PairedBy: by, First: at, FirstFrame: 1, Closed: agent.Closed{At: over, Frame: 2}}
			c.Ends[0] = agent.End{Addr: host(client), QPN: qpn, QPNKnown: true, Packets: 3, Last: at}
			c.Ends[1] = agent.End{Addr: host(9), QPN: qpn + 100, QPNKnown: true, Packets: 3, Last: at}
			r.Connections = append(r.Connections, c)
			if by == agent.ByCM {
				event(rule.EvConnect, at, client, qpn, service)
			}
		}
		for n := range k.held {
			over := int64(0)
			if n < int(k.ended) {
				over = second(15)
			}
			connection(3, second(2), over, agent.ByPSN)
		}
		for n, client := range []byte{1, k.second} {
			at := second(int64(10 + 10*n))
			connection(client, at, at+1e9, agent.ByCM)
			r.Findings = append(r.Findings, rule.Finding{
				Rule: rule.EvReject, Class: rule.Event, Time: at + 1000, Frame: uint64(len(r.Findings) + 1),
				Accused: rule.Endpoint{Addr: host(9)}, Peer: rule.Endpoint{Addr: host(client)},
				Detail: cm.Refusal{Reason: mad.RejConsumer, Service: service}.String(),
			})
		}
		got := toldOf(r)
		want := fmt.Sprintf("open: %d connections of all clients with 10.0.0.9 at each of its 2 refusals", k.held+1)
		if strings.Contains(got, want) != k.want {
			t.Errorf("%s: %s", k.name, got)
		}
		if strings.Contains(got, "of all clients") != k.want {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}
