package incident

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// TestBursts: what was trimmed within a short time is one burst, in whatever order it is told of; beyond the most that are kept the last one grows.
func TestBursts(t *testing.T) {
	const ms = int64(time.Millisecond)
	var b bursts
	for _, at := range []int64{20, 0, 4, 40, 43, 21, 8} {
		b = b.add([2]int64{at * ms, at * ms})
	}
	if want := (bursts{{0, 8 * ms}, {20 * ms, 21 * ms}, {40 * ms, 43 * ms}}); !reflect.DeepEqual(b, want) {
		t.Errorf("%v, want %v", b, want)
	}
	if b = b.add([2]int64{10 * ms, 38 * ms}); len(b) != 1 || b[0] != [2]int64{0, 43 * ms} {
		t.Errorf("joined: %v", b)
	}
	for n := range int64(mostBursts) {
		b = b.add([2]int64{(n + 1) * 100 * ms, (n + 1) * 100 * ms})
	}
	if last := b[len(b)-1]; len(b) != mostBursts || last != [2]int64{(mostBursts - 1) * 100 * ms, mostBursts * 100 * ms} {
		t.Errorf("%d bursts, the last at %v", len(b), last)
	}
}

// TestNaksOfTrims: where it is not known of each PSN sequence NAK that it asks for what was cut, it is told how many do at least.
func TestNaksOfTrims(t *testing.T) {
	for want, s := range map[string]trimsCost{
		"at least 78 of its 82 PSN sequence NAKs": {naks: 82, asked: 78},
		"78 PSN sequence NAKs":                    {naks: 78, asked: 78},
	} {
		if got := s.naksSaid(); got != want {
			t.Errorf("%+v: %q, want %q", s, got, want)
		}
	}
}

// TestTimersOfTrims: timers that brought what had come trimmed only count, though no event tells of them; none where packets were lost after the tap.
func TestTimersOfTrims(t *testing.T) {
	const ms = int64(time.Millisecond)
	a, b := packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2})
	for whole, want := range map[uint32]string{
		0: "17 times the timer of a sender had to run out, after up to 138ms.",
		1: "it asked for none of at least 4, each of which waited 135ms for the timer of the sender.",
	} {
		r := &repairs{timed: 4, shortest: 135 * ms, longest: 135 * ms, senders: []timedOut{{a, 4}}}
		cost := trimsCost{whole: whole, wentBack: wentBack{longest: 138 * ms}}
		cost.timed(a, 10)
		cost.timed(b, 7)
		r.takeTimers(&cost)
		i := &Incident{Next: make([]string, 3)}
		newTeller(&agent.Result{First: 1, Last: 2}).tellRepairs(i, b, r)
		if !strings.Contains(i.What, want) {
			t.Errorf("%d lost after the tap: %s\nwant %q", whole, i.What, want)
		}
	}
}

// TestTimersThatFit: no more timers ran out than there is room for in the time without progress, and none where that is far too short for one.
func TestTimersThatFit(t *testing.T) {
	const ms = int64(time.Millisecond)
	for want, lost := range map[uint32]int64{5: 678 * ms, 6: 810 * ms} {
		k := &qp.Trouble{}
		k.Sum.Rounds[qp.TimerExpired], k.Sum.Lost = 6, lost
		if got := timersThatFit(&agent.End{Timer: 134 * ms}, k); got != want {
			t.Errorf("%v without progress: %d, want %d", time.Duration(lost), got, want)
		}
	}
	for want, lost := range map[uint32]int64{0: ms / 8, 1: 2 * ms} {
		k := &qp.Trouble{}
		k.Sum.Rounds[qp.TimerExpired], k.Sum.Lost = 1, lost
		if got := timersThatFit(&agent.End{}, k); got != want {
			t.Errorf("%v without progress, by a timer of which it is not known how long it ran: %d, want %d", time.Duration(lost), got, want)
		}
	}
}
