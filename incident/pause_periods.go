package incident

import (
	"fmt"
	"slices"

	"ibwitness/link"
)

const (
	mostPeriods  = 5 // in which pauses are told to have come
	periodsApart = 8 // times as long was none begun between two of these as between any other two bunches
)

// periods are the times in which the pauses of a port came, where far longer ones lie between than without a pause in them; nil: it is not so.
func periods(p *link.Paused) (list []link.Bunch) {
	var gaps []int64
	for k := 1; k < len(p.Bunches); k++ {
		gaps = append(gaps, p.Bunches[k].From-p.Bunches[k-1].To)
	}
	slices.Sort(gaps)
	slices.Reverse(gaps)
	breaks := 0
	for k := 1; k <= len(gaps) && k < mostPeriods && breaks == 0; k++ {
		next := link.BunchGap
		if k < len(gaps) {
			next = gaps[k]
		}
		if gaps[k-1] >= periodsApart*next {
			breaks = k
		}
	}
	if breaks == 0 {
		return nil
	}
	for k, b := range p.Bunches {
		if n := len(list); k == 0 || b.From-list[n-1].To >= gaps[breaks-1] {
			list = append(list, b)
		} else {
			list[n-1].To, list[n-1].Pauses = b.To, list[n-1].Pauses+b.Pauses
		}
	}
	if slices.ContainsFunc(list, func(b link.Bunch) bool { return b.Pauses < bunchPauses }) {
		return nil
	}
	return list
}

// periodsOf says when the pauses of a port came, in periods, and how often in these; "": they did not.
func (t *teller) periodsOf(p *link.Paused) string {
	list := periods(p)
	if !t.timed() || list == nil {
		return ""
	}
	var said []string
	pauses, busy := uint64(0), int64(0)
	for _, b := range list {
		pauses, busy = pauses+b.Pauses, busy+b.To-b.From
		said = append(said, fmt.Sprintf("%s for %s", t.offset(b.From), span(b.To-b.From)))
	}
	return fmt.Sprintf("%d periods (%s): in these a pause began every %s on average", len(list), enumerate(said), span(busy/int64(pauses)))
}
