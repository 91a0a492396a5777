package incident

import (
	"fmt"
	"slices"
)

// Few hosts that send to one at once fill a queue as many do, for a shorter time: packets of several of them are lost within microseconds of one
// another then, and several in a row. A bad cable has neither.

const (
	lostWithin     = drains // NAKs of several hosts for what was lost in a queue at the same time
	fewestTimes    = 3      // such times, from which on that is no chance
	lostInRow      = 2      // packets a gap in the mean, from which on packets are lost in a row
	togetherOfNAKs = 2      // one NAK in so many is for a packet lost at such a time, at least
)

// lostAsSeveralSend has an incident of a sum fit a queue that overflows, where packets of several hosts were lost at the same time.
func (t *teller) lostAsSeveralSend(i *Incident, s *lossSum) {
	if said := t.lostTogether(s); said != "" {
		t.ofIncast(i, s, Fact{"together", said}, "several")
	} else if said := t.lostTogetherAfter(s); said != "" {
		i.ofFullQueue(s, said)
	}
}

// lostTogether says how often packets of several hosts of a sum were lost at the same time before the tap, and in a row; "": that is not so.
func (t *teller) lostTogether(s *lossSum) string {
	if !s.to || s.side() != beforeTap || len(s.others) < 2 || s.missing.Gaps < fewestGaps ||
		s.missing.PSNs < lostInRow*s.missing.Gaps || !t.timed() {
		return ""
	}
	naks := slices.DeleteFunc(t.sequenceNAKs()[s.host], func(l lostOf) bool { return !slices.Contains(s.others, l.from) })
	times, within := ofSeveral(naks)
	if times < fewestTimes || togetherOfNAKs*within < len(naks) {
		return ""
	}
	return fmt.Sprintf("%d times packets of several of these hosts were lost within %s (%d of %d PSN sequence NAKs are for such), "+
		"and several in a row: so a full queue loses packets", times, span(lostWithin), within, len(naks))
}

// ofSeveral is how often NAKs, in the order of time, were for packets of several hosts that were lost at the same time, and how many of them were.
func ofSeveral(naks []lostOf) (times, within int) {
	for burst := range togetherWithin(naks, lostWithin) {
		if hostsOf(burst) > 1 {
			times, within = times+1, within+len(burst)
		}
	}
	return times, within
}
