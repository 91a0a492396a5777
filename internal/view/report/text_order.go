package report

import (
	"fmt"
	"time"
)

// From how many frames on, and from what share of all, one in so many, it is told that their times are not in their order.
const (
	fewestDisordered = 16
	disorderedShare  = 1000
)

// disordered reports whether so many frames are stamped before one which comes before them that times of messages mean little: an answer may come before its request.
func (t *text) disordered() bool {
	d := &t.res.Disorder
	return d.Count >= max(fewestDisordered, t.res.Packets/disorderedShare) && t.res.Clock.Count == 0
}

// order tells so.
func (t *text) order() {
	if d := &t.res.Disorder; t.disordered() {
		t.prose("  ", fmt.Sprintf("Order: %s of %s are stamped before one that the capture has before them, by up to %s, first frame %d, as where several receive queues are captured, files were joined, or a clock was set back: an answer may come before its request, so that nothing is told of how long messages took. Sort them by time and check again (reordercap).",
			number(d.Count), count(t.res.Packets, "frame"), span(time.Duration(d.Most)), d.Frame))
	}
}
