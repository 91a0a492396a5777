package incident

import (
	"fmt"
	"slices"
	"time"

	"ibwitness/packet"
)

const (
	unslowedSlots = 4                           // slots of a series in which a sender has to send as fast though CNPs come to it
	cnpEach       = int64(time.Millisecond)     // in which one comes to it on average, at least
	halved        = 2                           // to which part of its rate, one in so many, another has slowed down clearly
	unslowedTime  = unslowedSlots * tellingTime // for which CNPs come to it
)

// unslowed is a sender that sent as fast all the time that CNPs came to it, while others slowed down.
type unslowed struct {
	sender
	cnps           uint64
	rate           float64 // bytes a second, while CNPs came to it
	lasted         int64   // nanoseconds
	slowed         []packet.Addr
	before, during float64 // what those sent in a second before that and meanwhile, in all
}

// doesNotSlow tells first which of several senders does not slow down though CNPs come to it all the time, while others do; false: none.
func (t *teller) doesNotSlow(i *Incident, list []sender) bool {
	for _, s := range list {
		u, ok := t.unslowed(s, list)
		if !ok {
			continue
		}
		i.What = fmt.Sprintf("%s; %v does not slow down, while %s %s.", i.What[:len(i.What)-1], u.from, someOf(u.slowed), do(len(u.slowed)))
		i.fact("reaction", fmt.Sprintf("%v sent about %s while %s came to it in %s, and no slower in the second half of that; %s sent about %s in all before that, and %s meanwhile",
			u.from, perSecondOf(u.rate), count(u.cnps, "CNP"), span(u.lasted), someOf(u.slowed), perSecondOf(u.before), perSecondOf(u.during)))
		i.FitsWith = slices.Insert(i.FitsWith, 0, unreacting(u.from))
		i.Next = slices.Insert(i.Next, 0, reactionPoint(u.from))
		return true
	}
	return false
}

// unslowed is what a sender did while CNPs came to it, and others meanwhile; false: it slowed down, or they did not, or that is not known.
func (t *teller) unslowed(s sender, list []sender) (u unslowed, ok bool) {
	since, until := int64(0), int64(0)
	u.sender = s
	for c, from := range t.notified(s.way) {
		x := c.Ends[from].Trouble.Notified
		if c.Timing == nil || x.Last-x.First < unslowedSlots*c.Timing.Ends[from].Series.Width {
			return u, false
		}
		if since == 0 || x.First < since {
			since = x.First
		}
		until, u.cnps = max(until, x.Last), u.cnps+x.Count
	}
	u.lasted = until - since
	if since == 0 || u.lasted < unslowedTime || u.cnps < uint64(u.lasted/cnpEach) || u.cnps < tellingCNPs {
		return u, false
	}
	middle, earlier := since+u.lasted/2, max(since-u.lasted, t.run.First)
	u.rate = t.sentTo(s.way, since, until)
	if u.rate == 0 || t.sentTo(s.way, middle, until) < asFast*t.sentTo(s.way, since, middle) || u.rate < asFast*t.sentTo(s.way, earlier, since) {
		return u, false
	}
	for _, o := range list {
		before, during := t.sentTo(o.way, earlier, since), t.sentTo(o.way, since, until)
		if o.from == s.from || o.notified.n < tellingCNPs || halved*during > before || greedyTimes*during > u.rate {
			continue
		}
		u.slowed, u.before, u.during = append(u.slowed, o.from), u.before+before, u.during+during
	}
	return u, len(u.slowed) > 0 && u.before > 0
}

// perSecondOf writes bytes a second.
func perSecondOf(bytes float64) string { return rate(uint64(bytes), int64(time.Second)) }

func do(n int) string {
	if n == 1 {
		return "does"
	}
	return "do"
}
