package incident

import (
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// TestDroppedAnswers: a READ whose answer had passed the tap, and that is asked for again after one whose answer was lost before it, shows no loss
// after the tap; where none was lost before it, it does.
func TestDroppedAnswers(t *testing.T) {
	for _, over := range []uint32{1, 0} {
		x := &qp.Trouble{Sum: qp.Stalls{Count: 6, Begun: 1, Last: 2}, Passed: 1, PassedOver: over}
		x.Sum.Rounds[qp.ResponseLost], x.Sum.Rounds[qp.TimerExpired] = 5, over
		c := agent.Connection{Service: packet.RC, Ends: [2]agent.End{
			{Addr: packet.IPv4Addr([]byte{10, 0, 0, 1}), QPN: 1, QPNKnown: true, Trouble: x},
			{Addr: packet.IPv4Addr([]byte{10, 0, 0, 2}), QPN: 2, QPNKnown: true},
		}}
		s := &lossSum{host: c.Ends[0].Addr, to: true, ends: map[Party]bool{}}
		s.take(&c)
		nowhere := strings.Contains(where(x, 0, false, false), "once nowhere, most likely: the answer had passed the tap, and its requester drops it")
		if s.before != 4+over || s.after != 1-over || s.implied != 5-over || s.unsure != over || nowhere != (over > 0) ||
			strings.Contains(s.where(), "its other side") != (over == 0) && s.side() != "" {
			t.Errorf("%d before it: %+v %s", over, s, where(x, 0, false, false))
		}
	}
}
