package view

import "slices"

// Loses has the capture lose frames singly or in bursts, of both directions or of one.
func (v *View) Loses() {
	ends, gone := pick(v, "a", "b", "ab", "ab"), 0
	chance := pick(v, 0.002, 0.02, 0.1)
	left := 0
	hit := either(ends)
	v.Frames = slices.DeleteFunc(v.Frames, func(f Frame) bool {
		if left == 0 && v.is(chance) {
			left = 1 + v.IntN(pick(v, 1, 3, 30))
		}
		if left == 0 || !hit(&f) {
			return false
		}
		left--
		gone++
		return true
	})
	v.Say("%d of %s lost", gone, ends)
	v.lossy(gone)
}

// lossy says that the capture lost something, or has it not say so at a place unknown.
func (v *View) lossy(n int) {
	if n == 0 {
		return
	}
	if v.is(0.5) {
		v.Near = nil
		return
	}
	v.Hidden = v.is(0.5)
	v.Say("told, at the end %t", v.Hidden)
	for i := range v.Taps {
		v.Taps[i].Dropped = uint64(n)
	}
}

// OneWay leaves the frames of one end.
func (v *View) OneWay() {
	end := 1
	if v.is(0.5) {
		end = 0
	}
	v.Say("only those of %c", "ab"[end])
	v.Near = nil
	v.Frames = slices.DeleteFunc(v.Frames, func(f Frame) bool { return f.End != end })
}

// oneTap has the place of several taps be unknown: a part of what they show need not tell that they saw the same.
func (v *View) oneTap() {
	if v.Several {
		v.Near = nil
	}
}

// Begins has the capture begin in the midst of everything.
func (v *View) Begins() {
	v.oneTap()
	if n := len(v.Frames); n > 0 {
		k := v.IntN(n)
		v.Say("without the first %d of %d", k, n)
		v.Frames = v.Frames[k:]
	}
}

// Ends has it end there.
func (v *View) Ends() {
	v.oneTap()
	if n := len(v.Frames); n > 0 {
		k := v.IntN(n)
		v.Say("the first %d of %d", k, n)
		v.Frames = v.Frames[:k]
	}
}

// QP leaves what goes to one queue pair, or to both of a connection, with the datagrams that set it up or without.
func (v *View) QP() {
	if len(v.Pairs) == 0 {
		return
	}
	pair := v.Pairs[v.IntN(len(v.Pairs))]
	keep, managed := pair[:], v.is(0.3)
	if v.is(0.3) {
		k := v.IntN(2)
		keep, v.Near = pair[k:k+1], nil
	}
	v.Say("only what goes to %v (and QP1 %t)", keep, managed)
	v.Frames = slices.DeleteFunc(v.Frames, func(f Frame) bool {
		return !slices.Contains(keep, f.To) && !(managed && f.To.QPN == 1)
	})
}
