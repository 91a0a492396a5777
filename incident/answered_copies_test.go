package incident

import (
	"slices"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/timing"
	"ibwitness/wqe"
)

// TestEachReadAnswered: where READs come back as many times as they were asked for, the timer is too short; where their copies were not answered, or something was asked for once more, packets were lost.
func TestEachReadAnswered(t *testing.T) {
	for _, k := range []struct {
		name     string
		came     uint64 // bytes of responses to 100 READs of 1,000 bytes, 140 requests in all
		sequence uint32
		want     bool
	}{
		{"each copy", 140_000, 0, true}, {"most copies", 132_000, 0, true}, {"half of the copies", 120_000, 0, false}, {"no copy", 100_000, 0, false}, {"lost too", 140_000, 1, false},
	} {
		c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1, Timing: timing.New(nil)}
		for e := range c.Ends {
			c.Ends[e] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(e + 1)}), QPN: 16, QPNKnown: true, Last: 3e9}
		}
		c.Ends[0].Packets, c.Ends[0].Messages, c.Ends[0].Retransmissions, c.Ends[1].Packets, c.Ends[1].Bytes = 140, 100, 40, k.came/1000, k.came
		c.Timing.Ends[0].Ops[wqe.Read] = &timing.Operation{Count: 100, Bytes: 100_000}
		c.Ends[0].Trouble = &qp.Trouble{Sum: qp.Stalls{Count: 40, Rounds: [qp.NumCauses]uint32{40, k.sequence}, Begun: 1e9, Last: 2e9}}
		list := Of(&agent.Result{RDMA: 1, First: 1, Last: 4e9, Connections: []agent.Connection{c}})
		if len(list) != 1 || slices.ContainsFunc(list[0].Facts, func(f Fact) bool { return f.Label == "copies" && strings.Contains(f.Text, "bytes of READs came back") }) != k.want {
			t.Errorf("%s: %+v", k.name, list)
		}
	}
}

// TestGreedy: of several senders the one is told that sends far more than the others although none of them got more notifications.
func TestGreedy(t *testing.T) {
	of := func(rate float64, cnps uint64) sender {
		return sender{onWay: &onWay{notified: seen{n: cnps}}, rate: rate}
	}
	for _, k := range []struct {
		name string
		list []sender
		want bool
	}{
		{"most notifications", []sender{of(5.1e9, 20), of(1.4e9, 16), of(1.1e9, 11)}, true},
		{"another got more", []sender{of(5.1e9, 20), of(1.4e9, 21), of(1.1e9, 11)}, false},
		{"as fast", []sender{of(3e9, 20), of(1.4e9, 16), of(1.1e9, 11)}, false},
		{"few notifications", []sender{of(5.1e9, 3), of(1.4e9, 2), of(1.1e9, 1)}, false},
	} {
		i, all := &Incident{}, uint64(0)
		for _, s := range k.list {
			all += s.notified.n
		}
		if i.greedy(k.list, false, all); len(i.Facts) > 0 != k.want {
			t.Errorf("%s: %+v", k.name, i.Facts)
		}
		if i = (&Incident{}); k.want {
			if i.greedy(k.list, true, all); len(i.Facts) != 1 || !strings.Contains(i.Facts[0].Text, "though at least 20 CNPs went to it") {
				t.Errorf("%s, and more than are kept: %+v", k.name, i.Facts)
			}
		}
	}
}
