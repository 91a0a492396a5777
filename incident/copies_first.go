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
