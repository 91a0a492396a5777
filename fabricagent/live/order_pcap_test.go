//go:build libpcap

package live

import (
	"slices"
	"testing"
	"time"

	"ibwitness/fabricagent"
)

// TestLibpcapOrder: frames wait for those of a device of which nothing is known yet, however long its reader is held up, and the time up to which all were
// delivered does too.
func TestLibpcapOrder(t *testing.T) {
	const second = int64(time.Second)
	s := &library{opt: Options{Hold: time.Millisecond, Idle: 100 * time.Millisecond}.withDefaults(), wake: make(chan struct{}, 1)}
	for n := range uint16(2) {
		s.devices = append(s.devices, &device{tap: n, chunks: make(chan chunk, chunkAhead)})
		s.taps, s.stats = append(s.taps, fabricagent.Tap{}), append(s.stats, Stats{})
	}
	next := func(now int64, want ...int64) {
		t.Helper()
		b, err := s.Next()
		if err != nil {
			t.Fatal(err)
		}
		defer b.Release()
		var got []int64
		for i := range b.Frames {
			got = append(got, b.Frames[i].Time)
		}
		if !slices.Equal(got, want) || s.Now() != now {
			t.Errorf("%v until %v, not %v until %v", got, s.Now(), want, now)
		}
	}
	at := func(tap uint16, times ...int64) chunk {
		c := chunk{until: times[len(times)-1]}
		for _, n := range times {
			c.frames = append(c.frames, fabricagent.Frame{Tap: tap, Time: n})
		}
		return c
	}
	s.devices[0].chunks <- at(0, 2*second, 4*second)
	next(0)
	s.devices[1].chunks <- at(1, second, 3*second)
	next(3*second, second, 2*second, 3*second)
	next(3 * second)
	s.devices[1].chunks <- chunk{until: 5 * second} // nothing came
	next(4*second, 4*second)
	s.devices[0].chunks <- chunk{until: 6 * second}
	next(5 * second)
}
