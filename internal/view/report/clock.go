package report

import (
	"fmt"

	"ibwitness/agent"
)

// Caveats says what a reader must know before he trusts the report: a clock that cannot be trusted, and what was given up.
func Caveats(r *agent.Result) (list []string) {
	if r.Clock.Count > 0 {
		list = append(list, clockSteps(r))
	}
	if len(r.Skewed) > 0 {
		list = append(list, clocksDiffer(r))
	}
	return append(list, forgotten(&r.Forgotten)...)
}

// clocksDiffer says that two clocks stamp what hosts send and what they receive.
func clocksDiffer(r *agent.Result) string {
	var all agent.Skew
	for i := range r.Skewed {
		all.Add(&r.Skewed[i])
	}
	of := "directions"
	if len(r.Apart) > 0 {
		of = "interfaces"
	}
	return fmt.Sprintf("the two %s have different clocks, by at least %s: %s of %s came before what they answer; do not trust latencies, no wait is proven",
		of, span(all.By), number(all.Early), count(all.Answers, "answer"))
}

// forgotten says what was given up.
func forgotten(f *agent.Forgotten) (list []string) {
	if f.Connections > 0 {
		s := "memory was short (--memory): " + count(f.Connections, "idle connection") + " given up before the end; what came later was judged as if the capture began there"
		if f.Unlisted > 0 {
			s += "; " + number(f.Unlisted) + " of them not listed"
		}
		list = append(list, s)
	}
	var more []string
	if f.Findings > 0 {
		more = append(more, count(f.Findings, "finding"))
	}
	if f.Events > 0 {
		more = append(more, count(f.Events, "event"))
	}
	if len(more) > 0 {
		list = append(list, "too many to list: "+enumerate(more)+" like those listed are only counted, by rule")
	}
	return list
}

// clockSteps says what shows that a clock of the capture was set, or that two clocks stamp its frames.
func clockSteps(r *agent.Result) string {
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
