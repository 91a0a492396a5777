package incident

import (
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/qp"
)

// TestTimerOf: how long a requester's timer takes at most is known from what it did, or else from its attributes, and not where neither tells.
func TestTimerOf(t *testing.T) {
	for _, k := range []struct {
		e    agent.End
		want time.Duration
	}{
		{agent.End{}, 0},
		{agent.End{Timer: int64(time.Second)}, time.Second},
		{agent.End{Settings: agent.Settings{Known: qp.KnowsTimeout, Timeout: 14}}, 4 * 4096 << 14},
		{agent.End{Settings: agent.Settings{Known: qp.KnowsTimeout}}, 1 << 50},
		{agent.End{Settings: agent.Settings{Known: qp.KnowsTimeout, Timeout: 31}}, 4 * 4096 << 31},
	} {
		if got := timerOf(&k.e); got != int64(k.want) {
			t.Errorf("%+v: %v", k.e, time.Duration(got))
		}
	}
}
