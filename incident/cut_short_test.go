package incident

import (
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// TestCutShort: a request that waits when the capture ends is not told as never answered where it waits no longer than others did that were answered in
// the end; it is where it waits longer, or none of them was.
func TestCutShort(t *testing.T) {
	const ms = int64(time.Millisecond)
	for name, k := range map[string]struct {
		before int64 // for how long one waited that was answered; 0: none did
		told   bool
	}{
		"as long as one before":  {8 * ms, false},
		"longer than any before": {3 * ms, true},
		"none before":            {0, true},
	} {
		c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1}
		for e := range c.Ends {
			c.Ends[e] = agent.End{
				Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(e + 1)}), QPN: 16, QPNKnown: true, Packets: 900, Messages: 900, Last: 995 * ms,
			}
		}
		now := qp.Stall{Since: 995 * ms, Begun: 996 * ms, Last: 999 * ms, Rounds: [qp.NumCauses]uint32{qp.TimerExpired: 3}}
		x := &qp.Trouble{Now: now}
		if k.before > 0 {
			x.Sum = qp.Stalls{Count: 9, Rounds: [qp.NumCauses]uint32{qp.TimerExpired: 20}, Begun: 100 * ms, Last: 108 * ms, Lost: 60 * ms}
			x.Longest[0] = qp.Stall{
				Since: 100 * ms, Begun: 101 * ms, Last: 102 * ms, Ended: 100*ms + k.before, Rounds: [qp.NumCauses]uint32{qp.TimerExpired: 2},
			}
		}
		c.Ends[0].Stalled, c.Ends[0].Trouble = true, x
		told := false
		for _, i := range Of(&agent.Result{First: 1, Last: 1000 * ms, RDMA: 1, Packets: 1800, Connections: []agent.Connection{c}}) {
			told = told || i.Kind == Unanswered
		}
		if told != k.told {
			t.Errorf("%s: %t", name, told)
		}
	}
}
