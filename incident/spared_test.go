package incident

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/rule"
)

// TestSpared: where packets of some hosts to another are damaged, and too many of a further one are not for chance, the incident says so, and what only the former pass comes first. A burst, in which
// that one may have sent nothing, does not tell, nor do too few packets.
func TestSpared(t *testing.T) {
	addr := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	to := []way{{addr(1), addr(9)}, {addr(2), addr(9)}}
	from := []way{{addr(9), addr(1)}, {addr(9), addr(2)}}
	const rest = "; damaged before it; receivers drop them."
	for _, k := range []struct {
		name         string
		ways         []way // of damaged packets, in turn
		third        uint64
		every        time.Duration
		cut          bool
		what, spared string // empty: nothing is told of another host
	}{
		{
			"of one host, none", to, 500, 10 * time.Millisecond, false,
			"to 10.0.0.9: 20 of 2,020 from 10.0.0.1, 20 of 2,020 from 10.0.0.2 and none of 500 from 10.0.0.3" + rest, "500 packets from 10.0.0.3 to 10.0.0.9, of which about 5 would be damaged",
		},
		{
			"to one host, none", from, 500, 10 * time.Millisecond, false,
			"from 10.0.0.9: 20 of 2,020 to 10.0.0.1, 20 of 2,020 to 10.0.0.2 and none of 500 to 10.0.0.3" + rest, "500 packets to 10.0.0.3 from 10.0.0.9, of which about 5 would be damaged",
		},
		{"of one sender, and not of others", to[:1], 2000, 10 * time.Millisecond, false, "40 packets had a wrong ICRC at the tap from 10.0.0.1 to 10.0.0.9", "4,000 packets from 10.0.0.2 and 10.0.0.3 to 10.0.0.9"},
		{"too few", to, 300, 10 * time.Millisecond, false, "all of them to 10.0.0.9", ""},
		{"in a burst", to, 500, 10 * time.Microsecond, false, "all of them to 10.0.0.9", ""},
		{"not all were judged", to, 500, 10 * time.Millisecond, true, "50 % of them from 10.0.0.1 to 10.0.0.9", ""},
	} {
		r := &agent.Result{First: 1, Last: int64(time.Second), RDMA: 1}
		for n, packets := range []uint64{2000, 2000, k.third} {
			c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1}
			for e, a := range []byte{byte(n + 1), 9} {
				c.Ends[e] = agent.End{Addr: addr(a), QPN: 16, QPNKnown: true, Packets: packets, Bytes: packets * 1024, Last: int64(time.Second)}
			}
			r.Cover[rule.ROCV2019].Exercised += 2 * packets
			r.Connections = append(r.Connections, c)
		}
		if k.cut {
			r.Cover[rule.ROCV2019].Exercised--
		}
		for n := range 40 {
			w := k.ways[n%len(k.ways)]
			r.Findings = append(r.Findings, rule.Finding{Rule: rule.ROCV2019, Class: rule.Unproven, Time: int64(n+1) * int64(k.every), Frame: uint64(n + 2), Accused: rule.Endpoint{Addr: w.from}, Peer: rule.Endpoint{Addr: w.to}})
		}
		list := Of(r)
		i, told := &list[0], ""
		if n := slices.IndexFunc(i.Facts, func(f Fact) bool { return f.Label == "spared" }); n >= 0 {
			told = i.Facts[n].Text
		}
		if len(list) != 1 || !strings.Contains(i.What, k.what) || !strings.HasPrefix(told, k.spared) || (told == "") != (k.spared == "") || strings.Contains(i.FitsWith[0], "do not:") != (told != "") {
			t.Errorf("%s: %+v", k.name, i)
		}
	}
}

// TestOneBitOfPart: where one bit is flipped in packets that pass what others to the same host do not, that is a switch, and no link; where other bits are, it may be a link.
func TestOneBitOfPart(t *testing.T) {
	k := spared{addr: packet.IPv4Addr([]byte{10, 0, 0, 9}), hosts: []packet.Addr{packet.IPv4Addr([]byte{10, 0, 0, 3})}}
	for n := range byte(2) {
		k.harmed = append(k.harmed, &onWay{way: way{packet.IPv4Addr([]byte{10, 0, 0, 1 + n}), k.addr}})
	}
	for _, oneBit := range []bool{true, false} {
		i := Incident{FitsWith: []string{"of any"}, Next: []string{"at any"}}
		k.reasons(&i, oneBit)
		if told := strings.Join(slices.Concat(i.FitsWith, i.Next), "; "); strings.Contains(told, "do not: a switch in whose memory") != oneBit || strings.Contains(told, "a link between switches") == oneBit || strings.Contains(told, "FCS") == oneBit {
			t.Error(told)
		}
	}
}

// TestOneBit: one bit in each of many packets is no link; few flips, one of another bit, packets that it does not explain, and the same field of the headers in each may be.
func TestOneBit(t *testing.T) {
	const payload, header = "byte 84 of the payload", "Packet Sequence Number"
	for _, k := range []struct {
		x    flips
		want bool
	}{
		{flips{looked: 8, bit: 8, first: expect.Flip{Where: payload}}, true},
		{flips{looked: 8, bit: 8, apart: 64, first: expect.Flip{Where: header}}, true},
		{flips{looked: 8, bit: 8, first: expect.Flip{Where: header}}, false},
		{flips{looked: 7, bit: 7, first: expect.Flip{Where: payload}}, false},
		{flips{looked: 9, bit: 8, first: expect.Flip{Where: payload}}, false},
		{flips{looked: 8, bit: 8, unlike: true, first: expect.Flip{Where: payload}}, false},
	} {
		i := Incident{}
		if k.x.tell(&i); k.x.oneBit() != k.want || strings.HasPrefix(i.FitsWith[0], "memory or a bus of an adapter or switch, of which one bit is stuck or flips") != k.want {
			t.Errorf("%+v: %+v", k.x, i)
		}
	}
}
