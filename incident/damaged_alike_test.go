package incident

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/rule"
)

// TestDamagedAlike: where packets from several hosts to one are damaged alike, it is told what they have in common, and none is named for having
// most; not where one of them has far more of it than another.
func TestDamagedAlike(t *testing.T) {
	addr := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	for _, k := range []struct {
		name         string
		sent         [3]uint64
		damaged      [3]int
		what, reason string
	}{
		{"alike", [3]uint64{1000, 1200, 900}, [3]int{6, 7, 6}, "all of them to 10.0.0.9, from 3 hosts alike (0.58 to 0.66 % of what went on each way): ", "likely what all packets to 10.0.0.9 pass"},
		{"one far more", [3]uint64{100, 1200, 900}, [3]int{6, 7, 6}, "37 % of them from 10.0.0.2 to 10.0.0.9: ", ""},
		{"few", [3]uint64{1000, 1000, 1000}, [3]int{3, 3, 3}, "33 % of them from 10.0.0.1 to 10.0.0.9: ", ""},
	} {
		r := &agent.Result{First: 1, Last: int64(time.Second), RDMA: 1}
		for n, sent := range k.sent {
			c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1}
			c.Ends[0] = agent.End{Addr: addr(byte(n + 1)), QPN: 16, QPNKnown: true, Packets: sent, Bytes: sent * 1024, Last: int64(time.Second)}
			c.Ends[1] = agent.End{Addr: addr(9), QPN: uint32(16 + n), QPNKnown: true, Packets: 10, Last: int64(time.Second)}
			r.Connections = append(r.Connections, c)
			r.Cover[rule.ROCV2019].Exercised += sent + 10
			for j := range k.damaged[n] {
				at := 2*(3*j+n) + 2
				r.Findings = append(r.Findings, rule.Finding{
					Rule: rule.ROCV2019, Class: rule.Unproven, Time: int64(at), Frame: uint64(at),
					Accused: rule.Endpoint{Addr: addr(byte(n + 1))}, Peer: rule.Endpoint{Addr: addr(9)},
				})
			}
		}
		list := Of(r)
		if len(list) != 1 || !strings.Contains(list[0].What, k.what) || k.reason != "" != strings.HasPrefix(list[0].FitsWith[0], "likely what") ||
			!strings.HasPrefix(list[0].FitsWith[0], k.reason) {
			t.Errorf("%s: %+v", k.name, list)
		}
	}
}
