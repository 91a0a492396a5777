package view

import (
	"slices"
	"time"
)

// Mirrored has each frame there twice, as where a switch mirrors two ports of the path: all, or those of one direction.
func (v *View) Mirrored() {
	v.Near = nil // docs/verdicts.md: what the verifier still takes for a packet sent twice
	later := pick(v, int64(0), 300, 2_000, 20_000)
	jitter := pick(v, int64(1), 100, 5_000)
	ends := pick(v, "a", "b", "ab", "ab", "ab")
	v.Say("each frame of %s twice, %d+%dns", ends, later, jitter)
	hit := either(ends)
	for _, f := range slices.Clone(v.Frames) {
		if hit(&f) {
			f.shift(later + v.Int64N(jitter))
			v.Frames = append(v.Frames, f)
		}
	}
}

// Copies has the network, or the tap, make copies of some frames.
func (v *View) Copies() {
	chance, n := pick(v, 0.01, 0.05), 0
	most := pick(v, int64(1_000), 50_000, 500_000)
	v.Near = nil
	for _, f := range slices.Clone(v.Frames) {
		if v.is(chance) {
			f.shift(v.Int64N(most))
			v.Frames = append(v.Frames, f)
			n++
		}
	}
	v.Say("%d frames copied within %v", n, time.Duration(most))
}

// SecondTap has another tap see all again, by its own clock and in a file of its own or in the same one; one of them loses frames.
func (v *View) SecondTap() {
	delay := v.Int64N(pick(v, int64(300), 2_000)) // on the link between them
	offset := pick(v, int64(0), 1_000, 50_000, 2_000_000, 300_000_000)
	if v.is(0.5) {
		offset = -offset
	}
	v.Near = nil
	n := len(v.Taps)
	for _, t := range slices.Clone(v.Taps) {
		if v.is(0.5) {
			t.File += ".2"
		}
		t.Interface += " 2"
		v.Taps = append(v.Taps, t)
	}
	lossy, chance, gone := pick(v, -1, 0, 1), pick(v, 0.002, 0.02, 0.2), 0
	lost := func(tap int) bool {
		if tap != lossy || !v.is(chance) {
			return false
		}
		gone++
		return true
	}
	var list []Frame
	for _, f := range v.Frames {
		g := f
		g.Tap += uint16(n)
		if f.End == 0 {
			g.shift(offset - delay)
		} else {
			g.shift(offset + delay)
		}
		if !lost(0) {
			list = append(list, f)
		}
		if !lost(1) {
			list = append(list, g)
		}
	}
	v.Frames = list
	v.Say("a second tap %v away, its clock off by %v, %d frames lost at tap %d", time.Duration(delay), time.Duration(offset), gone, lossy)
}

// Join puts another capture, or the same one, after the capture.
func (v *View) Join() {
	if len(v.Frames) == 0 || len(v.Others) == 0 {
		return
	}
	v.Joined = v.Others[v.IntN(len(v.Others))]
	gap := pick(v, 11*time.Second, time.Minute, time.Hour)
	v.Say("%s after %v", v.Joined.Name, gap)
	last := v.Frames[0].At
	for i := range v.Frames {
		last = max(last, v.Frames[i].At)
	}
	frames, taps := v.Joined.Frames()
	if len(frames) == 0 {
		return
	}
	first := frames[0].At
	for i := range frames {
		first = min(first, frames[i].At)
	}
	v.Near = nil
	for _, f := range frames {
		f.shift(last + int64(gap) - first)
		f.Tap = v.tapLike(taps[f.Tap])
		v.Frames = append(v.Frames, f)
	}
}
