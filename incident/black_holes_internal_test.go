package incident

import (
	"slices"
	"strings"
	"testing"

	"ibwitness/packet"
)

// TestBlackHoles: incidents of packets that vanish between two hosts, each one way, are one where the ways are opposite, and it is known of one how large what vanishes is, and of both what passes.
func TestBlackHoles(t *testing.T) {
	a, b, c := packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2}), packet.IPv4Addr([]byte{10, 0, 0, 3})
	for _, k := range []struct {
		name        string
		first, then hole
		want        string
	}{
		{"both", hole{way: way{a, b}, most: 200, size: 4096, pmtu: 4096, check: "x"}, hole{way: way{b, a}, most: 500, pmtu: 2048, check: "y"}, "Between 10.0.0.1 and 10.0.0.2 no packet with more than 500 bytes of payload arrives on 2 connections, in either direction, and smaller ones do, though the path MTU of their queue pairs is 4,096 bytes. It."},
		{"no path MTU is known", hole{way: way{a, b}, most: 200, size: 2000, check: "x"}, hole{way: way{b, a}, most: 100, size: 3000, check: "y"}, "and smaller ones do, though such of 3,000 bytes are sent or asked for. It."},
		{"one way", hole{way: way{a, b}, most: 200, size: 4096, check: "x"}, hole{way: way{a, b}, most: 200, size: 4096, check: "y"}, ""},
		{"of others", hole{way: way{a, b}, most: 200, size: 4096, check: "x"}, hole{way: way{c, a}, most: 200, size: 4096, check: "y"}, ""},
		{"how large is not known", hole{way: way{a, b}, most: 200, pmtu: 4096, check: "x"}, hole{way: way{b, a}, most: 200, pmtu: 4096, check: "y"}, ""},
		{"nothing passed", hole{way: way{a, b}, size: 4096, check: "x"}, hole{way: way{b, a}, most: 200, size: 4096, check: "y"}, ""},
	} {
		list := []Incident{{What: "It.", Certainty: Proven, Connections: 1, Next: []string{"first", "last"}}, {What: "Too.", Connections: 1, Local: Party{Addr: b}}}
		for n, h := range []hole{k.first, k.then} {
			h.said = " Said."
			list[n].vanishes(h)
		}
		got := blackHoles(list)
		if (len(got) == 1) != (k.want != "") {
			t.Errorf("%s: %+v", k.name, got)
		} else if i := &got[0]; k.want != "" && (!strings.HasSuffix(i.What, k.want) || i.Certainty != Likely || !slices.Contains(i.Facts, Fact{"other way", "Too. Said"}) || !slices.Equal(i.Next, []string{"x", "y", "first", "last"})) {
			t.Errorf("%s: %+v", k.name, i)
		}
	}
}
