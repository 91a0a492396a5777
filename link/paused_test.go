package link

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestPauses follows pauses of one port: who paused what for how long.
func TestPauses(t *testing.T) {
	const us = int64(time.Microsecond)
	from := [6]byte{2, 0, 0, 0, 0, 7}
	type asks struct {
		at      int64 // µs
		classes uint8 // 0: all traffic
		quanta  uint16
	}
	// 1000 quanta are 5.12 µs at 100 Gb/s, 0.32 µs at 1.6 Tb/s and 512 µs at 1 Gb/s.
	const fast = 100_000_000_000
	tests := []struct {
		name  string
		speed uint64
		asks  []asks
		want  []Paused
	}{
		{"resumed", fast, []asks{{10, 8, 1000}, {12, 8, 0}}, []Paused{{
			Priority: 3, Frames: 2, Resumed: 1, Quanta: 1000, Begun: 1, Least: 2000, Most: 2000, Longest: 2000, LongestSince: 10 * us, Time: 10 * us, LastTime: 12 * us, Frame: 1, LastFrame: 2,
		}}},
		{"asked again, and resumed twice", fast, []asks{{10, 8, 1000}, {14, 8, 1000}, {17, 8, 0}, {18, 8, 0}}, []Paused{{
			Priority: 3, Frames: 4, Resumed: 2, Quanta: 2000, Begun: 1, Least: 7000, Most: 7000, Longest: 7000, LongestSince: 10 * us, Time: 10 * us, LastTime: 18 * us, Frame: 1, LastFrame: 4,
		}}},
		{"ran out, and again", fast, []asks{{10, 8, 1000}, {20, 8, 500}}, []Paused{{
			Priority: 3, Frames: 2, Quanta: 1500, Begun: 2, Unresumed: 2, Least: 7680, Most: 7680, Longest: 5120, LongestSince: 10 * us, Time: 10 * us, LastTime: 20 * us, Frame: 1, LastFrame: 2,
		}}},
		{"lasts at the end", fast, []asks{{98, 8, 1000}}, []Paused{{
			Priority: 3, Frames: 1, Quanta: 1000, Begun: 1, Unresumed: 1, Held: true, Least: 2000, Most: 2000, Longest: 2000, LongestSince: 98 * us, Time: 98 * us, LastTime: 98 * us, Frame: 1, LastFrame: 1,
		}}},
		{"of no known speed", 0, []asks{{10, 8, 1000}, {30, 8, 0}}, []Paused{{
			Priority: 3, Frames: 2, Resumed: 1, Quanta: 1000, Begun: 1, Least: 320, Most: 20_000, Longest: 20_000, LongestSince: 10 * us, Time: 10 * us, LastTime: 30 * us, Frame: 1, LastFrame: 2,
		}}},
		{"two priorities and all traffic", fast, []asks{{10, 0x81, 1000}, {11, 0, 1000}, {12, 0x80, 0}, {13, 0, 0}}, []Paused{
			{Priority: 0, Frames: 1, Quanta: 1000, Begun: 1, Unresumed: 1, Least: 5120, Most: 5120, Longest: 5120, LongestSince: 10 * us, Time: 10 * us, LastTime: 10 * us, Frame: 1, LastFrame: 1},
			{Priority: 7, Frames: 2, Resumed: 1, Quanta: 1000, Begun: 1, Least: 2000, Most: 2000, Longest: 2000, LongestSince: 10 * us, Time: 10 * us, LastTime: 12 * us, Frame: 1, LastFrame: 3},
			{All: true, Frames: 2, Resumed: 1, Quanta: 1000, Begun: 1, Least: 2000, Most: 2000, Longest: 2000, LongestSince: 11 * us, Time: 11 * us, LastTime: 13 * us, Frame: 2, LastFrame: 4},
		}},
		{"only resumed", fast, []asks{{10, 0xFF, 0}}, nil},
		{"a clock that is set back", fast, []asks{{50, 8, 1000}, {10, 8, 1000}, {12, 8, 0}}, []Paused{{
			Priority: 3, Frames: 3, Resumed: 1, Quanta: 2000, Begun: 1, Least: 2000, Most: 2000, Longest: 0, Time: 50 * us, LastTime: 12 * us, Frame: 1, LastFrame: 3,
		}}},
	}
	for _, tt := range tests {
		var p Pauses
		for i, a := range tt.asks {
			m := Pause{Time: a.at * us, Frame: uint64(i + 1), Tap: 2, From: from, All: a.classes == 0, Classes: a.classes}
			for k := range m.Quanta {
				m.Quanta[k] = a.quanta
			}
			p.Take(&m, tt.speed)
		}
		for i := range tt.want {
			tt.want[i].From, tt.want[i].Tap, tt.want[i].Speed = from, 2, tt.speed
		}
		list := p.List(100 * us)
		for i := range list {
			list[i].Unbroken, list[i].Each, list[i].Bunches = 0, nil, nil // see TestUnbroken, TestEachPause, TestBunches
		}
		if d := cmp.Diff(tt.want, list); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
}

// TestUnbroken: the longest wait between two frames of a pause tells up to which speed of the link it had not run out.
func TestUnbroken(t *testing.T) {
	var p Pauses
	for i, at := range []int64{10, 12, 17, 20} { // µs
		m := Pause{Time: at * int64(time.Microsecond), Frame: uint64(i + 1), Classes: 8}
		if at < 20 {
			m.Quanta[3] = 1000
		}
		p.Take(&m, 0)
	}
	const want = 1000 * 512 / 5 * 1e6 // bits in 5 µs
	if got := p.List(int64(time.Second))[0].Unbroken; got != want {
		t.Errorf("%d, want %d bit/s", got, uint64(want))
	}
}

// TestEachPause: of each pause it is known when it was, over all frames that asked for it; of many, of the longest.
func TestEachPause(t *testing.T) {
	const us = int64(time.Microsecond)
	var p Pauses
	take := func(at int64, quanta uint16) {
		m := &Pause{Time: at * us, Classes: 8}
		m.Quanta[3] = quanta
		p.Take(m, 0)
	}
	var want []Lasting
	for k := range int64(mostEach + 8) {
		at, lasts := 1000*k, int64(10)
		if k%5 == 1 {
			lasts = 500
			take(at, 65535)
			take(at+200, 65535)
		} else {
			take(at, 65535)
		}
		take(at+lasts, 0)
		if k%5 == 1 {
			want = append(want, Lasting{at * us, (at + lasts) * us})
		}
	}
	got := p.List(1e9)[0].Each
	if len(got) != mostEach {
		t.Fatalf("%d", len(got))
	}
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("%v is missing of %v", w, got)
		}
	}
	if !slices.IsSortedFunc(got, func(a, b Lasting) int { return int(a.From - b.From) }) {
		t.Error(got)
	}
}

// TestPausesMost: more ports than are followed are counted, and those of two taps are two.
func TestPausesMost(t *testing.T) {
	var p Pauses
	for i := range 3 * PortsMost {
		p.Take(&Pause{Time: int64(i), From: [6]byte{2, byte(i / 2)}, Tap: uint16(i % 2), All: true, Quanta: [8]uint16{1}}, 0)
	}
	if n := len(p.List(1e9)); n != PortsMost || p.Others() != 2*PortsMost {
		t.Errorf("%d ports, %d frames of others", n, p.Others())
	}
}

// TestLongPauses: pauses of LongPause and longer are listed, from when to when, and shorter ones are not; of a pause that is asked for again and again, its whole length is.
func TestLongPauses(t *testing.T) {
	const ms = int64(time.Millisecond)
	var p Pauses
	take := func(at int64, quanta uint16) {
		m := &Pause{Time: at * ms, Frame: uint64(at), Classes: 8}
		m.Quanta[3] = quanta
		p.Take(m, 1e9)
	}
	for _, from := range []int64{100, 200, 300} {
		for at := from; at < from+(from-100)/10; at += 5 { // the first lasts for none, then 10 ms, 20 ms
			take(at, 65535)
		}
		take(from+(from-100)/10+2, 0)
	}
	list := p.List(1000 * ms)
	if want := []Lasting{{200 * ms, 212 * ms}, {300 * ms, 322 * ms}}; len(list) != 1 || !slices.Equal(list[0].Long, want) {
		t.Errorf("%+v", list)
	}
}
