package incident

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// TestLossByDamage: what was lost fits damaged packets where packets between the same hosts were, in either direction, and not where those of others were.
func TestLossByDamage(t *testing.T) {
	addr := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	for _, k := range []struct {
		from, to byte
		fits     bool
	}{{1, 2, true}, {2, 1, true}, {1, 3, false}} {
		c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1}
		for e := range c.Ends {
			c.Ends[e] = agent.End{Addr: addr(byte(e + 1)), QPN: 16, QPNKnown: true, Packets: 100, Last: int64(time.Second)}
		}
		c.Ends[0].Trouble = &qp.Trouble{Sum: qp.Stalls{Count: 1, Rounds: [qp.NumCauses]uint32{1}, Begun: 5, Last: 9}}
		damage := rule.Finding{Rule: rule.ROCV2019, Class: rule.Unproven, Time: 4, Frame: 2, Accused: rule.Endpoint{Addr: addr(k.from)}, Peer: rule.Endpoint{Addr: addr(k.to)}}
		list := Of(&agent.Result{First: 1, Last: int64(time.Second), RDMA: 1, Connections: []agent.Connection{c}, Findings: []rule.Finding{damage}})
		if len(list) != 2 || list[0].Kind != Damage || list[1].Kind != Loss {
			t.Fatalf("%+v", list)
		}
		if got := strings.Contains(list[1].FitsWith[0], "damaged, see there"); got != k.fits {
			t.Errorf("damaged from %d to %d: %q", k.from, k.to, list[1].FitsWith)
		}
	}
}
