package timing

import (
	"cmp"
	"slices"
	"time"
)

// idleTogether is in which part of the time that all hosts were idle, one in so many, several go on by themselves after it.
const idleTogether = 50

// idle are times in which no host sends anything, as none waits for another.
type idle []Sent

// silences are the times in which some hosts send one another nothing for long, of which those are kept that a function says. The messages are in the order in which they began: the first n of them before it.
func silences(list []HostMessage, keep func(n int, silence Sent) bool) (times idle) {
	until := int64(0)
	for n := range list {
		if s := (Sent{until, list[n].Begin}); until != 0 && s.End-s.Begin >= LongSilence && keep(n, s) {
			times = append(times, s)
		}
		until = max(until, list[n].End)
	}
	return times
}

// settled reports whether no host owes an answer at a time.
func settled(all []acks, at int64) bool {
	for i := range all {
		if all[i].owed(at) {
			return false
		}
	}
	return true
}

// idleOf are those after which at least two hosts go on by themselves, as between the rounds of a job, and those in which no host of a ring or chain owes an answer.
func idleOf(hosts int, list []HostMessage, acks []acks) idle {
	ring := ringOf(acks)
	return silences(list, func(n int, s Sent) bool {
		return ring && settled(acks, s.Begin) || several(hosts, list[n:], s.End+(s.End-s.Begin)/idleTogether)
	})
}

// several reports whether two hosts or more send the first of some messages up to a time before one has come to them.
func several(hosts int, list []HostMessage, until int64) bool {
	came, sent, alone := make([]int64, hosts), make([]bool, hosts), 0
	for i := range list {
		m := &list[i]
		if m.Begin > until {
			break
		}
		if at := came[m.From]; !sent[m.From] && (at == 0 || at > m.Begin) {
			if alone++; alone > 1 {
				return true
			}
		}
		sent[m.From] = true
		if at := came[m.To]; at == 0 || m.End < at {
			came[m.To] = m.End
		}
	}
	return false
}

// busy is how much of a time is none of those.
func (l idle) busy(from, to int64) time.Duration {
	d := to - from
	n, _ := slices.BinarySearchFunc(l, from, func(x Sent, at int64) int { return cmp.Compare(x.End, at) })
	for ; n < len(l) && l[n].Begin < to; n++ {
		d -= min(to, l[n].End) - max(from, l[n].Begin)
	}
	return time.Duration(d)
}
