package incident

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// senders lists who sent what met congestion while incident i lasted, who sent fastest first, then who had most marks.
func (t *teller) senders(ways []*onWay, i *Incident) []sender {
	var list []sender
	for _, w := range ways {
		list = append(list, sender{onWay: w, rate: t.sentTo(w.way, i.Begin, i.End)})
	}
	sortSenders(list)
	return list
}

func sortSenders(list []sender) {
	slices.SortStableFunc(list, func(a, b sender) int {
		return cmp.Or(cmp.Compare(b.rate, a.rate), cmp.Compare(b.marked.n, a.marked.n), cmp.Compare(b.notified.n, a.notified.n))
	})
}

// sentTo is how many bytes a second were sent on a way between two times; 0: that is not known.
func (t *teller) sentTo(w way, since, until int64) float64 {
	if !t.timed() || until-since < tellingTime {
		return 0
	}
	bytes := float64(0)
	for k := range t.run.Connections {
		c := &t.run.Connections[k]
		for e := range c.Ends {
			if (way{c.Ends[e].Addr, c.Ends[1-e].Addr}) != w {
				continue
			}
			if c.Timing == nil && c.Ends[e].QPNKnown && c.Ends[e].QPN <= 1 {
				continue // management
			}
			if c.Timing == nil {
				return 0
			}
			x := &c.Timing.Ends[e].Series
			for n := range x.Slots {
				begin := x.Start + int64(n)*x.Width
				if part := min(until, begin+x.Width) - max(since, begin); part > 0 {
					bytes += float64(x.Slots[n].Bytes+x.Slots[n].Retransmitted) * float64(part) / float64(x.Width)
				}
			}
		}
	}
	return bytes / time.Duration(until-since).Seconds()
}

// shares says what each of several senders sent, and how much of it met congestion. Where nothing was sent most of the time, how says of which times rates are, or what came in all.
func (t *teller) shares(list []sender, how string) string {
	var names, beside []string
	few := t.fewMarked(list)
	if len(few) > 0 {
		for _, s := range few[:min(len(few), portsShown)] {
			beside = append(beside, fmt.Sprintf("%v (%s marked, %s)", s.from, number(s.marked.n), count(s.notified.n, "CNP")))
		}
		if more := len(few) - portsShown; more > 0 {
			beside = append(beside, number(uint64(more))+" more")
		}
		list = slices.DeleteFunc(slices.Clone(list), func(s sender) bool { return slices.Contains(few, s) })
	}
	for _, s := range list[:min(len(list), portsShown)] {
		name := fmt.Sprintf("%v (%s marked, %s", s.from, number(s.marked.n), count(s.notified.n, "CNP"))
		if s.rate > 0 && !s.least {
			name += ", " + rate(uint64(s.rate), int64(time.Second))
		}
		names = append(names, name+")")
	}
	if more := len(list) - portsShown; more > 0 {
		names = append(names, number(uint64(more))+" more")
	}
	s := enumerate(names)
	if t.limited() {
		s += "; of each at least so many"
	}
	switch {
	case how != "":
		s += "; " + how
	case list[0].rate > 0 && !list[0].least:
		s += "; rates of payload on average meanwhile"
	}
	if len(beside) > 0 {
		s += "; " + enumerate(beside) + ": next to none of the marks, so little of what fills the queue"
	}
	return s
}

// marksOfFew is which part of the marks, one in so many, all that senders together have that have little part in a congestion.
const marksOfFew = 100

// fewMarked are the senders that have next to none of the marks, where others have nearly all and all are known: a queue marks what it holds, so that little of that is theirs.
func (t *teller) fewMarked(list []sender) (few []sender) {
	all := uint64(0)
	for _, s := range list {
		all += s.marked.n
	}
	sum := uint64(0)
	for _, s := range list {
		if s.marked.n > 0 && marksOfFew*s.marked.n*uint64(len(list)) <= all {
			few, sum = append(few, s), sum+s.marked.n
		}
	}
	if t.limited() || marksOfFew*sum > all || len(list)-len(few) < 1 {
		return nil
	}
	return few
}

// nearlyAll says from how many senders nearly all marks are; "": from each of them a good part is.
func (t *teller) nearlyAll(list []sender) string {
	few := len(t.fewMarked(list))
	if few == 0 {
		return ""
	}
	return fmt.Sprintf(", nearly all from %d of them,", len(list)-few)
}

// greedy says that the first of several senders sent far more than each other although no other got more notifications. limited says that not all of these are kept.
func (i *Incident) greedy(list []sender, limited bool, notified uint64) {
	first, rest, most := &list[0], float64(0), uint64(0)
	for _, s := range list[1:] {
		rest, most = rest+s.rate, max(most, s.notified.n)
	}
	if n := float64(len(list) - 1); first.rate < greedyTimes*rest/n || rest == 0 || first.notified.n < tellingCNPs || first.notified.n < most {
		return
	}
	got := fmt.Sprintf("and %s of the %s went to it", number(first.notified.n), count(notified, "CNP"))
	if limited {
		got = fmt.Sprintf("though at least %s went to it", count(first.notified.n, "CNP"))
	}
	i.fact("share", fmt.Sprintf("%v sent %s of it, %s", first.from, share(uint64(first.rate), uint64(first.rate+rest)), got))
	i.FitsWith = slices.Insert(i.FitsWith, 0, unreacting(first.from))
	i.Next = slices.Insert(i.Next, 0, reactionPoint(first.from))
}

// greedyTimes is how many times as much as others on average a sender has to send to be told to.
const greedyTimes = 3
