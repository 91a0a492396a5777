package report

import (
	"fmt"

	"ibwitness/agent"
)

// ClockSteps says what shows that a clock of the capture was set, or that two clocks stamp its frames.
func ClockSteps(r *agent.Result) string {
	k := r.Clock
	where := fmt.Sprintf("frame %d", k.Frame)
	if len(r.Taps) > 1 {
		where += fmt.Sprintf(" of tap %d", k.Tap)
	}
	by, way := k.By, " after"
	if by < 0 {
		by, way = -by, " before"
	}
	if days := uint64(by.Hours() / 24); days > 1 {
		way = number(days) + " days" + way
	} else {
		way = span(by) + way
	}
	s := fmt.Sprintf("the clock of the capture cannot be trusted: %s is stamped %s the newest one before it", where, way)
	if k.Count > 1 {
		s += ", and " + count(k.Count-1, "other frame") + " likewise"
	}
	return s + "; no wait is proven with it"
}
