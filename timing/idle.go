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
		if s := (Sent{Begin: until, End: list[n].Begin}); until != 0 && s.End-s.Begin >= LongSilence && keep(n, s) {
			times = append(times, s)
		}
		until = max(until, list[n].End)
	}
	return times
}

// settled returns a function that reports whether no host owes an answer at a time, asked for one time after the other.
func settled(all []acks) func(at int64) bool {
	type change struct {
		at int64
		of int
		by int // how many more data wait
	}
	var changes []change
	waits, owing := make([]int, len(all)), 0
	for i := range all {
		for _, s := range all[i].data {
			changes = append(changes, change{s.End, i, 1})
		}
		for _, s := range all[i].answers {
			changes = append(changes, change{s.Begin, i, -1})
		}
		if waits[i] = all[i].ahead; waits[i] > 0 {
			owing++
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	return func(at int64) bool {
		for ; len(changes) > 0 && changes[0].at <= at; changes = changes[1:] {
			c := &changes[0]
			before := waits[c.of] > 0
			waits[c.of] += c.by
			switch after := waits[c.of] > 0; {
			case after && !before:
				owing++
			case before && !after:
				owing--
			}
		}
		return owing == 0
	}
}

// SettledOf are the times, from one message to the next, in which the hosts of a ring or a chain send one another nothing for long, and none owes another an answer; nil: the connections are none of such hosts.
func SettledOf(list []Link) []Sent {
	acks := acksOf(list)
	if !ringOf(acks) {
		return nil
	}
	return settledTimes(MessagesOf(list), acks)
}

func settledTimes(list []HostMessage, acks []acks) idle {
	at := settled(acks)
	return silences(list, func(_ int, s Sent) bool { return at(s.Begin) })
}

// SilencesOf are the times, from one message to the next, in which some hosts send one another nothing for long.
func SilencesOf(list []HostMessage) []Sent {
	return silences(list, func(int, Sent) bool { return true })
}

// RoundsOf are the times, from one message to the next, in which some hosts send one another nothing for long, and after which at least two of them go on by themselves, as between the rounds of a job.
func RoundsOf(hosts int, list []HostMessage) []Sent {
	return silences(list, func(n int, s Sent) bool { return goOn(hosts, list[n:], s) })
}

// goOn reports whether at least two hosts send the first of some messages after a silence by themselves.
func goOn(hosts int, list []HostMessage, s Sent) bool {
	return several(hosts, list, s.End+(s.End-s.Begin)/idleTogether)
}

// idleOf are those after which at least two hosts go on by themselves, as between the rounds of a job, and those in which no host of a ring or chain owes an answer.
func idleOf(hosts int, list []HostMessage, acks []acks) idle {
	ring, at := ringOf(acks), settled(acks)
	return silences(list, func(n int, s Sent) bool {
		return ring && at(s.Begin) || goOn(hosts, list[n:], s)
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
		if at := came[m.From]; !sent[m.From] && (at == 0 || at >= m.Begin) {
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
