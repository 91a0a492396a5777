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

// TestOneFault: damage tells of losses between the same hosts at the same time, and that packets were lost too where there are more rounds than packets that came damaged; losses in both directions
// at the same time are told once. Not those of other hosts, at another time, of late answers, or where packets between several pairs of hosts were damaged.
func TestOneFault(t *testing.T) {
	addr := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	at := func(s int) int64 { return int64(s) * int64(time.Second) }
	connection := func(a, b byte) agent.Connection {
		c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1}
		for e, n := range [...]byte{a, b} {
			c.Ends[e] = agent.End{Addr: addr(n), QPN: 16, QPNKnown: true, Packets: 100, Last: at(50)}
		}
		return c
	}
	loss := func(rounds uint32, begun, last int) *qp.Trouble {
		return &qp.Trouble{Sum: qp.Stalls{Count: rounds, Rounds: [qp.NumCauses]uint32{rounds}, Begun: at(begun), Last: at(last)}}
	}
	lossy := func(a, b byte, x, y *qp.Trouble) agent.Connection {
		c := connection(a, b)
		c.Ends[0].Trouble, c.Ends[1].Trouble = x, y
		return c
	}
	damaged := func(s int, from, to byte) rule.Finding {
		return rule.Finding{Rule: rule.ROCV2019, Class: rule.Unproven, Time: at(s), Frame: uint64(s), Accused: rule.Endpoint{Addr: addr(from)}, Peer: rule.Endpoint{Addr: addr(to)}}
	}
	late := loss(2, 20, 22)
	late.Late.Rounds = 2
	const icrc = "1 packet had a wrong ICRC at the tap from 10.0.0.1 to 10.0.0.2: damaged before it; receivers drop them; "
	const once = "10.0.0.1 QP 0x10 retransmitted 1 of 100 packets to 10.0.0.2 QP 0x10 (1 %), in 1 round."
	for _, k := range []struct {
		name     string
		list     []agent.Connection
		findings []rule.Finding
		want     []string
	}{
		{"damage, and what was retransmitted for it", []agent.Connection{lossy(1, 2, loss(1, 5, 9), nil)}, []rule.Finding{damaged(5, 1, 2)}, []string{"damage: " + icrc + once}},
		{"of an answer", []agent.Connection{lossy(2, 1, nil, loss(1, 5, 9))}, []rule.Finding{damaged(5, 1, 2)}, []string{"damage: " + icrc + once}},
		{"lost and damaged", []agent.Connection{lossy(1, 2, loss(9, 4, 30), nil)}, []rule.Finding{damaged(5, 1, 2)}, []string{
			"damage: Packets between 10.0.0.1 and 10.0.0.2 were lost and damaged, or damaged on both sides of the tap: " + icrc + "10.0.0.1 QP 0x10 retransmitted 1 of 100 packets to 10.0.0.2 QP 0x10 (1 %), in 9 rounds.",
		}},
		{"on two connections", []agent.Connection{lossy(1, 2, loss(1, 4, 6), nil), lossy(1, 2, loss(1, 5, 8), nil)}, []rule.Finding{damaged(5, 1, 2)}, []string{
			"damage: Packets between 10.0.0.1 and 10.0.0.2 were lost and damaged, or damaged on both sides of the tap: " + icrc + once,
		}},
		{"in both directions", []agent.Connection{lossy(1, 2, loss(2, 4, 30), loss(1, 20, 40))}, nil, []string{
			"loss: 10.0.0.1 QP 0x10 retransmitted 1 of 100 packets to 10.0.0.2 QP 0x10 (1 %), in 2 rounds: packets or their answers were lost, late or overtaken. At the same time 10.0.0.2 QP 0x10 retransmitted 1 of 100 packets to 10.0.0.1 QP 0x10 (1 %), in 1 round.",
		}},
		{"one after the other", []agent.Connection{lossy(1, 2, loss(2, 4, 10), loss(1, 20, 40))}, nil, []string{"loss: 10.0.0.1", "loss: 10.0.0.2"}},
		{"of other hosts", []agent.Connection{lossy(1, 3, loss(1, 5, 9), nil), connection(1, 2)}, []rule.Finding{damaged(5, 1, 2)}, []string{"damage: 1 packet", "loss: 10.0.0.1"}},
		{"at another time", []agent.Connection{lossy(1, 2, loss(1, 15, 19), nil)}, []rule.Finding{damaged(5, 1, 2)}, []string{"damage: 1 packet", "loss: 10.0.0.1"}},
		{"late answers", []agent.Connection{lossy(1, 2, late, nil)}, []rule.Finding{damaged(20, 1, 2)}, []string{"damage: 1 packet", "loss: 10.0.0.1"}},
		{"late answers beside losses", []agent.Connection{lossy(1, 2, late, nil), lossy(1, 2, loss(1, 15, 30), nil)}, nil, []string{
			"loss: 10.0.0.1 QP 0x10 retransmitted 1 of 100 packets to 10.0.0.2 QP 0x10 (1 %), in 1 round: packets or their answers were lost", "loss: 10.0.0.1 QP 0x10 retransmitted 1 of 100 packets to 10.0.0.2 QP 0x10 (1 %), in 2 rounds: the answers came late",
		}},
		{"late answers on two connections", []agent.Connection{lossy(1, 2, late, nil), lossy(1, 2, late, nil)}, nil, []string{"loss: 10.0.0.1"}},
		{"damage of several", []agent.Connection{lossy(1, 2, loss(1, 5, 9), nil), connection(1, 3)}, []rule.Finding{damaged(5, 1, 2), damaged(6, 1, 3)}, []string{"damage: 2 packets", "loss: 10.0.0.1"}},
	} {
		var got []string
		list := Of(&agent.Result{First: 1, Last: at(60), RDMA: 1, Connections: k.list, Findings: k.findings})
		for _, i := range list {
			got = append(got, i.Kind.String()+": "+i.What)
		}
		if !slices.EqualFunc(got, k.want, strings.HasPrefix) {
			t.Errorf("%s: %q", k.name, got)
		}
		if sees := list[0].Kind == Damage && k.name != "of other hosts"; len(list) == 2 && strings.Contains(list[1].FitsWith[0], "damaged, see there") != sees {
			t.Errorf("%s: fits %q", k.name, list[1].FitsWith)
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
