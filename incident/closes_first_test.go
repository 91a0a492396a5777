package incident

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// TestClosesFirst: where a host that goes on closed its TCP connections with several others at once, and none of them had closed one, its program ended, and no path of several fits; not where it closed only that one, or another had before.
func TestClosesFirst(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	fin := func(ms int64, from, to byte, ports ...uint16) agent.Sign {
		s := agent.Sign{Presence: fabricagent.Presence{Host: host(from), To: host(to), By: fabricagent.ByFIN, Station: uint64(from)}, At: at(ms), Frame: uint64(ms)}
		copy(s.Ports[:], ports)
		return s
	}
	const (
		all    = "; 10.0.0.1 closed TCP connections with 10.0.0.2 and 10.0.0.4 within 1ms, FIN in frames 2990 to 2991; "
		hangs  = "fits: a responder that hangs"
		ended  = "fits: a program on 10.0.0.1 that ended"
		before = "10.0.0.4 had closed one with 10.0.0.2 before, in frame 2700"
	)
	for _, k := range []struct {
		name      string
		signs     []agent.Sign
		want, not []string
	}{
		{"all", []agent.Sign{fin(2990, 1, 2, 7, 8), fin(2991, 1, 4, 9, 8)}, []string{all + "the others closed none of theirs", ended}, []string{hangs}},
		{"others later", []agent.Sign{fin(2990, 1, 2, 7, 8), fin(2991, 1, 4, 9, 8), fin(2992, 4, 1, 8, 9), fin(3700, 2, 4, 5, 5)}, []string{all + "of the others the first to close one with it or another of them was 10.0.0.2, 710ms later, in frame 3700", ended}, []string{hangs}},
		{"another before", []agent.Sign{fin(2700, 4, 2, 6, 6), fin(2990, 1, 2, 7, 8), fin(2991, 1, 4, 9, 8)}, []string{all + before, ended, hangs}, nil},
		{"only one", []agent.Sign{fin(2990, 1, 2, 7, 8)}, []string{ended, hangs}, []string{"closed TCP connections"}},
		{"another long after", []agent.Sign{fin(2990, 1, 2, 7, 8), fin(3500, 1, 4, 9, 8)}, []string{ended, hangs}, []string{"closed TCP connections"}},
	} {
		r := &agent.Result{RDMA: 8000, Packets: 8000, First: at(0), Last: at(4000), Taps: make([]fabricagent.Tap, 1), Signs: k.signs}
		for n, other := range []byte{2, 3} {
			c := agent.Connection{Service: packet.RC, First: at(1), FirstFrame: 1}
			for e := range c.Ends {
				c.Ends[e] = agent.End{Addr: host([2]byte{1, other}[e]), QPN: 0x101 + uint32(n), QPNKnown: true, Packets: 1000, Messages: 500, Last: at(2980)}
			}
			if n == 0 {
				stall := qp.Stall{Request: qp.StalledRequest{Frame: 3000}, Since: at(3000), Begun: at(3100), Last: at(3900), Packets: 7}
				stall.Rounds[qp.TimerExpired] = 7
				c.Ends[1].Trouble, c.Ends[1].Stalled, c.Ends[1].Last = &qp.Trouble{Now: stall}, true, at(3900)
			} else {
				c.Ends[0].Last, c.Ends[1].Last = at(3990), at(3990)
			}
			r.Connections = append(r.Connections, c)
		}
		got := allSaid(Of(r))
		for _, want := range k.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s\nwant %q", k.name, got, want)
			}
		}
		for _, not := range k.not {
			if strings.Contains(got, not) {
				t.Errorf("%s: %s\nand not %q", k.name, got, not)
			}
		}
	}
}
