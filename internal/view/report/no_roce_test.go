package report

import (
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/packet"
)

// TestNoRoCETold: datagrams of another program to port 4791 are told with the port that they come from, or of several with who sends them; where there are none, nothing is.
func TestNoRoCETold(t *testing.T) {
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	one := agent.NoRoCE{From: host(1), To: host(2), Port: 41007, Count: 20, Short: 20, Answers: 20, Frame: 9}
	other := agent.NoRoCE{From: host(3), To: host(2), Port: 41009, Count: 4, Answers: 3, Frame: 7}
	for _, k := range []struct {
		list []agent.NoRoCE
		want string
	}{
		{[]agent.NoRoCE{one}, "20 UDP datagrams of 10.0.0.1 port 41007 to port 4791 of 10.0.0.2, too short for RoCE, each answered from there: another program, no RoCE"},
		{[]agent.NoRoCE{one, other}, "24 UDP datagrams of 10.0.0.1 and 10.0.0.3 to port 4791, too short for RoCE or without its ICRC, answered 23 times from there: another program, no RoCE"},
		{nil, ""},
	} {
		got := reportOf(t, &agent.Result{RDMA: 6, Packets: 26, NoRoCE: k.list})
		if !strings.Contains(got, k.want) || k.want == "" && strings.Contains(got, "no RoCE") {
			t.Errorf("%s\nwant %s", got, k.want)
		}
	}
}
