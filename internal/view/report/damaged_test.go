package report

import (
	"bytes"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/rule"
)

// TestOnlyDamaged: the verdict names no address that only damaged packets have, unless there is no other; one that something else is said of, or that has a connection, is named.
func TestOnlyDamaged(t *testing.T) {
	addr := func(a, d byte) packet.Addr { return packet.IPv4Addr([]byte{a, 0, 0, d}) }
	wrong := func(id rule.ID, from packet.Addr) rule.Finding {
		return rule.Finding{Rule: id, Class: rule.Unproven, Frame: 1, Accused: rule.Endpoint{Addr: from, Role: rule.Sender}, Peer: rule.Endpoint{Addr: addr(10, 9)}}
	}
	c := agent.Connection{Service: packet.RC}
	c.Ends[0].Addr, c.Ends[0].Packets, c.Ends[1].Addr = addr(10, 1), 5, addr(10, 2)
	for _, tt := range []struct {
		list []rule.Finding
		want string
	}{
		{[]rule.Finding{wrong(rule.ROCV2019, addr(10, 1)), wrong(rule.ROCV2019, addr(11, 1))}, "against 10.0.0.1; "},
		{[]rule.Finding{wrong(rule.ROCV2019, addr(11, 1))}, "against 11.0.0.1; "},
		{[]rule.Finding{wrong(rule.ROCV2019, addr(10, 1)), wrong(rule.ROCV2019, addr(11, 1)), wrong(rule.RCRSP003, addr(11, 1))}, "against 10.0.0.1 and 11.0.0.1\n"},
	} {
		r := &agent.Result{RDMA: 10, Packets: 10, Findings: tt.list, Connections: []agent.Connection{c}}
		var out bytes.Buffer
		if err := (&text{}).Report(&out, &Run{Result: r}); err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(out.String(), "\n\n")
		if !strings.Contains(strings.Join(strings.Fields(head), " ")+"\n", tt.want) {
			t.Errorf("%s\nnot %s", head, tt.want)
		}
	}
}
