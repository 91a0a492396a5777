package incident

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// TestNoAnswerSent: where the capture holds all that the peer sent until it answered the retransmission, no answer of it was lost; else one may have been.
func TestNoAnswerSent(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	for _, k := range []struct {
		name  string
		holes []agent.Hole
		want  bool
	}{
		{"all is held", []agent.Hole{{Packets: 1, Before: 1, After: 2}}, true},
		{"a packet of the peer is missing", []agent.Hole{{Packets: 1, Before: 3, After: 20}}, false},
	} {
		c := agent.Connection{Service: packet.RC, First: at(0)}
		for n := range c.Ends {
			c.Ends[n] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(n + 1)}), QPN: 0x20, QPNKnown: true, Packets: 10, Last: at(3000)}
		}
		s := qp.Stall{Since: at(200), Begun: at(390), Last: at(390), Ended: at(390) + 3000, Rounds: [qp.NumCauses]uint32{}, Packets: 1}
		s.Rounds[qp.TimerExpired] = 1
		s.Request.Frame, s.Frames.Ended = 10, 20
		c.Ends[0].Trouble = &qp.Trouble{Longest: [4]qp.Stall{s}}
		list := Of(&agent.Result{RDMA: 20, First: at(0), Last: at(4000), Connections: []agent.Connection{c}, Numbered: []agent.Numbering{{Host: c.Ends[1].Addr, Holes: k.holes}}})
		if len(list) != 1 || list[0].Kind != Interrupted {
			t.Fatalf("%s: %+v", k.name, list)
		}
		i := &list[0]
		told := slices.ContainsFunc(i.Facts, func(f Fact) bool {
			return f.Label == "lost" && strings.HasPrefix(f.Text, "no answer: the IPv4 identifications of all that 10.0.0.2 sent")
		})
		if told != k.want || slices.Contains(i.FitsWith, oneLost) == k.want {
			t.Errorf("%s: %+v", k.name, i)
		}
	}
}
