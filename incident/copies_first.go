package incident

import (
	"fmt"
	"slices"
	"time"

	"ibwitness/rule"
)

// copiesTimes is how many copies there are for each round of retransmission at least where they are what a capture seems full of, and come before losses that cost hardly any time.
const copiesTimes = 10

// copiesFirst has what tells of packets that are in the capture twice come before losses, where these are few beside so many copies, and cost little: copies look like retransmissions to who reads
// the capture. They come after what it lost, where that is much and they do not tell that it is the capture that lost it.
func copiesFirst(list []Incident) []Incident {
	n := slices.IndexFunc(list, func(i Incident) bool { return i.copies > 0 })
	if n < 0 {
		return list
	}
	capture, rounds := list[n], uint64(0)
	for k := range list[:n] {
		i := &list[k]
		if i.foremost || !capture.notNetwork && (i.noLoss || i.losesFrames && i.lacking >= manyLost) || i.Kind != Loss && i.Kind != Reordered && i.Kind != Untrusted || i.cost() >= time.Duration(interruption) {
			return list
		}
		rounds += i.again.rounds
	}
	if copiesTimes*rounds > capture.copies {
		return list
	}
	return slices.Insert(slices.Delete(list, n, n+1), 0, capture)
}

// copiedEvents says which events are most likely copies, too, that came before it was known that packets between their hosts come twice, and which frame
// the last of them is of; "": none is.
func (t *teller) copiedEvents() (said string, last uint64) {
	var asked, answers uint64
	for n := range t.run.Findings {
		f := &t.run.Findings[n]
		if f.Rule != rule.EvDuplicate && f.Rule != rule.EvDuplicateResponse {
			continue
		}
		if !t.ofCopy(f) {
			continue
		}
		if last = max(last, f.Frame); f.Rule == rule.EvDuplicate {
			asked++
		} else {
			answers++
		}
	}
	if asked+answers == 0 {
		return "", 0
	}
	said = fmt.Sprintf("%s until frame %d, before that was known, are most likely such copies too: %s and %s", count(asked+answers, "event"), last, number(asked)+" duplicate-request", number(answers)+" duplicate-response")
	return said, last
}

// secondEvents says which events after those are of seconds, too, of which the capture lost the first. before is what is said of those; "": there are none.
func (t *teller) secondEvents(before string) string {
	of, late := map[Party]bool{}, uint64(0)
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		for from := range c.Ends {
			if t.onlySeconds(c, from) {
				of[party(&c.Ends[from])] = true
				late += uint64(t.shownLate(c, from, false))
			}
		}
	}
	var again, order uint64
	for n := range t.run.Findings {
		switch f := &t.run.Findings[n]; {
		case t.ofCopy(f) || !of[Party{f.Accused.Addr, f.Accused.QPN, f.Accused.QPNKnown}]:
		case f.Rule == rule.EvDuplicate:
			again++
		case f.Rule == rule.EvOutOfOrder:
			order++
		}
	}
	events := again + order
	if events == 0 || lateOnce*(events-min(events, late)) > late {
		return ""
	}
	if before != "" {
		before = "; "
	}
	return fmt.Sprintf("%s%s duplicate-request and %s out-of-order are most likely of packets of which the capture lost the first of the two: no retransmission, and no reordering", before, number(again), number(order))
}
