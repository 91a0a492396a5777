package incident

import (
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// TestWentShort: a timer that ran out for the end of what a requester had gone back to tells of a loss before the tap where that has not seen that end again; else it is not known where.
func TestWentShort(t *testing.T) {
	for _, short := range []uint32{2, 0} {
		x := &qp.Trouble{Sum: qp.Stalls{Count: 2, Begun: 1, Last: 2}, WentShort: short}
		x.Sum.Rounds[qp.TimerExpired] = 2
		c := agent.Connection{Service: packet.RC, Ends: [2]agent.End{
			{Addr: packet.IPv4Addr([]byte{10, 0, 0, 1}), QPN: 1, QPNKnown: true, Trouble: x},
			{Addr: packet.IPv4Addr([]byte{10, 0, 0, 2}), QPN: 2, QPNKnown: true},
		}}
		s := &lossSum{host: c.Ends[1].Addr, to: true, ends: map[Party]bool{}}
		s.take(&c)
		said := strings.HasPrefix(where(x, 0, false, false), "twice before the tap, which had not seen again the end of what its sender went back to, until the timer ran out for it")
		if s.before != short || s.unsure != 2-short || said != (short > 0) {
			t.Errorf("%d: %+v %s", short, s, where(x, 0, false, false))
		}
	}
}
