package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ibwitness/incident"
)

// outlasts is how many times as long as all that incidents cost a program answers no more at least where that is what stopped the traffic, and is told before them.
const outlasts = 10

// programStopped finds an end that answered each message of its peer and does so no more, as its program ended or hangs, where nothing that happened to requests comes near that; nil: there is none.
func (t *text) programStopped() *hung {
	list, cost := t.run.Incidents(), time.Duration(0)
	if slices.ContainsFunc(list, func(i incident.Incident) bool { return i.Failed() || i.Lost >= costly }) {
		return nil
	}
	for i := range list {
		cost += list[i].Lost
	}
	for _, h := range t.hangs() {
		if h.a.Waits != nil && t.res.Dropped+t.res.Gaps == 0 && (t.closedThen(&h) != nil || unless(&h) == "") && h.silent >= outlasts*cost {
			return &h
		}
	}
	return nil
}

// butStopped has the verdict line say that a program answers no more.
func (t *text) butStopped(sentence string, h *hung) string {
	e := &h.c.Ends[h.a.By]
	said := fmt.Sprintf("nothing violated, but %v %s answers no more from %s on", e.Addr, qp(e.QPN, e.QPNKnown), offset(h.a.Newest, t.res.First))
	return strings.Replace(strings.Replace(sentence, ", but ", "; ", 1), "nothing violated", said, 1)
}

// stoppedFirst tells of programs that answer no more before incidents, which cost little beside that, and reports whether it does.
func (t *text) stoppedFirst() bool {
	if t.programStopped() == nil {
		return false
	}
	for _, s := range t.hanging() {
		t.prose("  ", s)
		t.line("")
	}
	return true
}

// costly is the time without progress that an incident which failed nothing costs at least then.
const costly = 100 * time.Millisecond
