package view

import "time"

// Offsets gives each tap a clock of its own.
func (v *View) Offsets() {
	most := pick(v, int64(500), 5_000, 100_000, 2_000_000, 300_000_000)
	by := make([]int64, len(v.Taps))
	for i := range by {
		by[i] = v.Int64N(2*most) - most
	}
	v.Say("clocks off by %v", by)
	v.each(all, func(f *Frame) { f.shift(by[f.Tap]) })
}

// shift moves a frame in time.
func (f *Frame) shift(by int64) {
	f.Time += by
	f.At += by
}

// Apart has the directions recorded apart, one of them late by at most 250 µs.
func (v *View) Apart() {
	v.late(v.Int64N(pick(v, int64(1000), 20_000, 250_000)))
}

// Late has a direction recorded late by 100 µs to 5 ms.
func (v *View) Late() {
	v.late(100_000 + v.Int64N(pick(v, int64(200_000), 4_900_000)))
}

func (v *View) late(by int64) {
	end := 1
	if v.is(0.5) {
		end = 0
	}
	v.Say("frames of %c are late by %v", "ab"[end], time.Duration(by))
	v.Near = nil // where one is late it does not show which of two packets an end saw first
	v.each(from(end), func(f *Frame) { f.shift(by) })
}

// Coarse has a clock that does not count nanoseconds.
func (v *View) Coarse() {
	v.tick = pick(v, int64(1000), 1000, 10_000, 1_000_000)
	v.Say("a clock of %d ns", v.tick)
}

// Coarser has one that may count in as much as 10 ms.
func (v *View) Coarser() {
	v.tick = pick(v, int64(1000), 100_000, 1_000_000, 4_000_000, 10_000_000)
	v.Say("a clock of %d ns", v.tick)
}

// Jitter has a clock that is wrong by another time for each frame, in the order in which they came. Where that is as much as an end has to take an answer in, the clock
// does not tell whether it has.
func (v *View) Jitter() {
	most := pick(v, int64(1000), 10_000, 100_000, 1_000_000)
	if most == 1_000_000 {
		v.Near = nil
	}
	v.Say("a clock that jitters by %v", time.Duration(most))
	v.each(all, func(f *Frame) { f.Time += v.Int64N(2*most) - most })
}

// Steps has the clock set while the capture goes on. One that leaps ahead looks as if an end had waited for that long.
func (v *View) Steps() {
	v.Near = nil
	for range 1 + v.IntN(2) {
		by := pick(v, time.Millisecond, 20*time.Millisecond, time.Second, time.Hour)
		if v.is(0.5) {
			by = -by
		}
		k := v.IntN(len(v.Frames) + 1)
		v.Say("a clock that steps by %v at frame %d", by, k+1)
		for i := range v.Frames[k:] {
			v.Frames[k+i].Time += int64(by)
		}
	}
}

// Epoch has one direction stamped by a clock that was never set, as some drivers have it.
func (v *View) Epoch() {
	if len(v.Frames) == 0 {
		return
	}
	end, by := v.IntN(2), v.Frames[0].Time-int64(time.Hour)-v.Int64N(int64(time.Hour))
	v.Say("frames of %c are stamped in 1970", "ab"[end])
	v.each(from(end), func(f *Frame) { f.Time -= by })
}
