package incident

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/verifier/cm"
)

// TestBesidesRefusal: of a refusal, as no program listens, it is told that other connections of the same hosts are clean, and that another host accepted the client for the same service; not that they
// are where one had to retransmit, nor a connection for another service.
func TestBesidesRefusal(t *testing.T) {
	const ms = int64(time.Millisecond)
	addr := func(n int) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, byte(n)}) }
	for _, k := range []struct {
		name      string
		lost      uint32
		service   string // that the other host accepted
		network   bool
		elsewhere bool
	}{
		{"both", 0, "TCP port 20049", true, true},
		{"losses", 3, "TCP port 20049", false, true},
		{"another service", 0, "TCP port 4420", true, false},
	} {
		s := lossScene{from: 1, to: 2, after: k.lost, packets: 300}
		r := &agent.Result{First: 1, Last: 1000 * ms, RDMA: 1, Connections: []agent.Connection{s.connection(0)}}
		client, server, other := rule.Endpoint{Addr: addr(1)}, rule.Endpoint{Addr: addr(2)}, rule.Endpoint{Addr: addr(3)}
		r.Findings = []rule.Finding{
			{Rule: rule.EvConnect, Class: rule.Event, Time: 100 * ms, Frame: 10, Accused: client, Peer: other, Detail: k.service},
			{Rule: rule.EvReject, Class: rule.Event, Time: 200 * ms, Frame: 20, Accused: server, Peer: client, Detail: cm.Refusal{Reason: mad.RejInvalidService, Service: "TCP port 20049"}.String()},
		}
		list := Of(r)
		n := slices.IndexFunc(list, func(i Incident) bool { return i.Kind == Rejected })
		if n < 0 {
			t.Fatalf("%s: %+v", k.name, list)
		}
		got := ""
		for _, f := range list[n].Facts {
			got += f.Label + ": " + f.Text + "\n"
		}
		if strings.Contains(got, "network: 1 connection between the same hosts, with 600 packets in all") != k.network || strings.Contains(got, "elsewhere: 10.0.0.3 accepted 10.0.0.1 for the same service, in frame 10") != k.elsewhere {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}
