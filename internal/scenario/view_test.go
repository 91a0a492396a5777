package scenario

import (
	"slices"

	"ibwitness/fabricagent"
	"ibwitness/internal/testkit/view"
)

// The taps of a run whose views are taken, by index.
const (
	tapA = iota
	tapMiddle
	tapB
	allTaps
)

// newView takes one tap, or several of them in one file, by chance.
func newView(c *chance, run *recording) *view.View {
	v := view.New(c.Rand, run.taps, nil)
	keep := pick(c, []int{tapA}, []int{tapMiddle}, []int{tapB}, []int{tapA}, []int{tapB}, []int{tapA, tapB}, []int{tapA, tapMiddle, tapB})
	v.Several = len(keep) > 1
	for _, k := range keep {
		v.Say("tap %d", k)
		if !run.near[k].IsZero() && c.is(0.7) {
			v.Say("near")
			v.Near = append(v.Near, run.near[k])
		}
	}
	for _, f := range run.frames {
		if slices.Contains(keep, int(f.Tap)) {
			v.Frames = append(v.Frames, view.Frame{Frame: f, At: f.Time, End: sender(&f)})
		}
	}
	return v
}

// disturb does to a view what captures do, one or several of the changes there are.
func disturb(v *view.View) {
	changes := []func(){v.Offsets, v.Mirrored, v.Apart, v.Coarse, v.Loses, v.OneWay, v.Begins, v.Ends, v.Snap, v.Wrap}
	n := 1 + v.IntN(2)
	for _, i := range v.Perm(len(changes))[:n] {
		changes[i]()
	}
	v.Finish()
}

// sender is the end that sent a frame.
func sender(f *fabricagent.Frame) int {
	if f.Data[11] == 1 {
		return 0
	}
	return 1
}
