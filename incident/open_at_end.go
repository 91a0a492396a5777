package incident

import (
	"fmt"
	"slices"
	"time"
)

// openAtEnd has incidents of a sum of losses tell of the requests on its connections that are open when the capture ends, for less time than their timers wait: what is lost there was not yet
// retransmitted then, as it was each time before, and nothing shows that it would not have been.
func (t *teller) openAtEnd(list []Incident) []Incident {
	merged := map[*Incident]bool{}
	for n := range list {
		i := &list[n]
		if i.sum == nil || i.sum.timers < tellingRounds || !t.timed() {
			continue
		}
		timer := time.Duration(t.shortestTimerOf(i.sum))
		open, longest := uint64(0), time.Duration(0)
		for m := range list {
			o := &list[m]
			if o.Kind != Unanswered || o.leftOff != "" || merged[o] || !o.Ongoing || o.End < t.run.Last || o.Connections > 1 || len(o.Also) > 0 || !i.sum.ends[o.Local] || !i.sum.between(o) || o.Lost >= timer {
				continue
			}
			begin, end, lost := i.Begin, i.End, i.Lost
			i.includes(o)
			i.Begin, i.End, i.Lost, i.Ongoing = min(begin, i.Begin), max(end, i.End), max(lost, o.Lost), false
			merged[o] = true
			open, longest = open+1, max(longest, o.Lost)
		}
		if open > 0 {
			at := slices.IndexFunc(i.Facts, func(f Fact) bool { return f.Label == "stalls" }) + 1
			i.Facts = slices.Insert(i.Facts, at, Fact{"open", fmt.Sprintf("on %s a request waits for its answer when the capture ends, for %s at most: for less than these timers wait (%s or longer)",
				number(open)+" of these connections", span(int64(longest)), span(int64(timer)))})
		}
	}
	return without(list, merged)
}
