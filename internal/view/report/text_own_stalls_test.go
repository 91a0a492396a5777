package report

import (
	"strings"
	"testing"
	"time"

	pair "ibwitness/qp"
)

// TestOwnStalls: beside requests that were retransmitted it is told for how long a program answered nothing, or asked nothing, while the transport made progress: not what took long as a request stalled,
// or may have, and not what is usual.
func TestOwnStalls(t *testing.T) {
	const slow, idle = "usually 2.04ms later, but once 1.2s, until ", " had the answer to all that it had sent 10.0.0.2 QP 0x21, and sent nothing more for 1.3s, until "
	at := func(n int) time.Duration { return time.Duration(n) * (answered + 10*time.Microsecond) } // when message n is sent
	stall := func(from, lost time.Duration) pair.Stall {
		s := pair.Stall{Since: int64(time.Hour + from), Begun: int64(time.Hour + from + lost), Last: int64(time.Hour + from + lost), Ended: int64(time.Hour + from + lost)}
		s.Rounds[pair.TimerExpired] = 1
		return s
	}
	seldom := func(i int) time.Duration {
		if i == 100 {
			return 1200 * time.Millisecond
		}
		return answered
	}
	for _, k := range []struct {
		name  string
		of    exchange
		stall pair.Stall
		more  time.Duration // that requests stalled, nobody knows when
		drops uint64        // frames that the capture lacks
		want  string
		not   string
	}{
		{"a program is slow before a loss", exchange{depth: 1, n: 400, took: seldom}, stall(at(300)+1200*time.Millisecond, 400*time.Millisecond), 0, 0, slow, idle},
		{"the capture lost packets", exchange{depth: 1, n: 400, took: seldom}, stall(at(300)+1200*time.Millisecond, 400*time.Millisecond), 0, 1, "", slow},
		{"a request is lost", exchange{depth: 1, n: 400, took: seldom}, stall(at(100), 1190*time.Millisecond), 0, 0, "", slow},
		{"what stalled may have been then", exchange{depth: 1, n: 400, took: seldom}, stall(at(300)+1200*time.Millisecond, 400*time.Millisecond), time.Second, 0, "", slow},
		{"several are outstanding", exchange{depth: 4, n: 400, took: seldom}, stall(at(300)+1200*time.Millisecond, 400*time.Millisecond), 0, 0, "", slow},
		{"a client asks nothing", exchange{depth: 1, n: 400, took: steady, pause: func(i int) time.Duration { return map[int]time.Duration{100: 1300 * time.Millisecond}[i] }}, stall(at(300)+1300*time.Millisecond, 400*time.Millisecond), 0, 0, idle, slow},
		{"a client asks seldom", exchange{depth: 1, n: 100, took: steady, pause: func(int) time.Duration { return 1300 * time.Millisecond }}, stall(at(30), 400*time.Millisecond), 0, 0, "", idle},
	} {
		c := k.of.connection(1, 2)
		x := &pair.Trouble{}
		x.Longest[0], x.Sum.Count, x.Sum.Lost = k.stall, 1, k.stall.Lost()+int64(k.more)
		c.Ends[0].Trouble = x
		r := after(c)
		r.Dropped = k.drops
		tell := &text{res: r, run: &Run{Result: r, told: true}}
		got := strings.Join(tell.longTurns(longestTurn), "\n")
		if k.want != "" && !strings.Contains(got, k.want) || k.want == "" && got != "" || strings.Contains(got, k.not) {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}
