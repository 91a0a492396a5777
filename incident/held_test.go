package incident

import (
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/qp"
	"ibwitness/timing"
)

// TestHeldBack: an answer that comes soon after a retransmission is the answer to that; one that comes long after is said not to come at once.
func TestHeldBack(t *testing.T) {
	const ms = int64(time.Millisecond)
	for _, k := range []struct {
		name                string
		rounds              uint32
		since, last, answer int64
		usual               int64
		want                string
	}{
		{"of a retransmission", 3, 0, 300 * ms, 300*ms + 20_000, 0, ", 20µs after the last retransmission"},
		{"on a long path", 3, 0, 300 * ms, 309 * ms, 0, ", 9ms after the last retransmission"},
		{"of none", 3, 0, 300 * ms, 340 * ms, 0, ", 40ms after the last retransmission, not at once"},
		{"of a retransmission, on a path as long", 3, 0, 300 * ms, 340 * ms, 39 * ms, ", 40ms after the last retransmission"},
		{"of none, on a shorter path", 3, 0, 300 * ms, 340 * ms, 10 * ms, ", 40ms after the last retransmission, not at once"},
		{"of none, but soon", 3, 0, 1 * ms, 1*ms + 900_000, 0, ", 900µs after the last retransmission"},
		{"without a retransmission", 0, 0, 0, 340 * ms, 0, ""},
		{"not at all", 3, 0, 300 * ms, 0, 0, ""},
	} {
		s := &qp.Stall{Since: k.since, Last: k.last, Ended: k.answer}
		s.Rounds[qp.TimerExpired] = k.rounds
		c := &agent.Connection{Timing: &timing.Connection{}}
		for n := range int64(9) { // one that takes longer does not count
			c.Timing.Ends[1].Acks.List = append(c.Timing.Ends[1].Acks.List, timing.AckWait{At: n, Took: time.Duration(k.usual + n/7*ms*500)})
		}
		if got := sinceLast(s, heldBack(c, 1, s)); got != k.want {
			t.Errorf("%s: %q, want %q", k.name, got, k.want)
		}
	}
}
