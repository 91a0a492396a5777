package incident

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/qp"
)

// TestGaveUpAsCounted: no retry_cnt is told that a queue pair cannot have: what a NAK asked for is not of its timer.
func TestGaveUpAsCounted(t *testing.T) {
	const ms = int64(time.Millisecond)
	for _, k := range []struct {
		timer, asked uint32
		want, not    string
	}{
		{7, 0, "after 7 retries: it seems that they are used up (as with a retry_cnt of 7, which", "of them"},
		{7, 1, "after 8 retries: it seems that they are used up (7 of them by its timer, as with a retry_cnt of 7, which", "retry_cnt of 8"},
		{9, 0, "after 9 retries, which is more than a queue pair can have (retry_cnt is 7 at most)", "used up"},
	} {
		s := &qp.Stall{Since: 1, Begun: 10 * ms, Last: 80 * ms}
		s.Rounds[qp.TimerExpired], s.Rounds[qp.SequenceAsked] = k.timer, k.asked
		c := &agent.Connection{First: 1, PairedBy: agent.ByCM}
		if got := newTeller(&agent.Result{First: 1, Last: 2000 * ms, RDMA: 1}).gaveUp(c, 0, s); !strings.Contains(got, k.want) || strings.Contains(got, k.not) {
			t.Errorf("%d by the timer, %d asked for: %s", k.timer, k.asked, got)
		}
	}
}
