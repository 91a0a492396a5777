package incident

import (
	"slices"
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

// TestDamagedElsewhere: other hosts between which packets were damaged too are named; addresses that no connection has may be damaged themselves.
func TestDamagedElsewhere(t *testing.T) {
	addr := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	between := func(a, b byte) agent.Connection {
		c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1}
		for e, n := range [...]byte{a, b} {
			c.Ends[e] = agent.End{Addr: addr(n), QPN: 16, QPNKnown: true, Packets: 100, Last: int64(time.Second)}
		}
		return c
	}
	damaged := func(from, to byte, frame uint64) rule.Finding {
		return rule.Finding{Rule: rule.ROCV2019, Class: rule.Unproven, Time: 4, Frame: frame, Accused: rule.Endpoint{Addr: addr(from)}, Peer: rule.Endpoint{Addr: addr(to)}}
	}
	for _, k := range []struct {
		more []rule.Finding
		want string
	}{
		{[]rule.Finding{damaged(4, 3, 5)}, "2 10.0.0.1 → 10.0.0.2; 1 10.0.0.4 → 10.0.0.3"},
		{[]rule.Finding{damaged(3, 4, 5), damaged(4, 3, 6)}, "2 10.0.0.1 → 10.0.0.2; 2 in 2 more directions between hosts"},
		{[]rule.Finding{damaged(1, 9, 5)}, "2 10.0.0.1 → 10.0.0.2; 1 between 1 more pair of addresses, which may be what was damaged"},
	} {
		r := &agent.Result{First: 1, Last: int64(time.Second), RDMA: 1, Connections: []agent.Connection{between(1, 2), between(3, 4)}}
		r.Findings = append([]rule.Finding{damaged(1, 2, 2), damaged(1, 2, 3)}, k.more...)
		list := Of(r)
		if len(list) != 1 || !slices.Contains(list[0].Facts, Fact{"from, to", k.want}) {
			t.Errorf("%+v, want %q", list, k.want)
		}
	}
}
