package incident

import (
	"fmt"
	"time"

	"ibwitness/packet"
)

const (
	unslowedSlots = 4                           // slots of a series in which a sender has to send as fast though CNPs come to it
	cnpEach       = int64(time.Millisecond)     // in which one comes to it on average, at least
	fallen        = 0.6                         // to which part of its rate another has slowed down clearly
	unslowedTime  = unslowedSlots * tellingTime // for which CNPs come to it
	steady        = 0.8                         // part of the rate of the first half that it sends in the second one, at least: others that begin take their share of a full link
)

// unslowed is a sender that sent as fast all the time that CNPs came to it, while others slowed down.
type unslowed struct {
	sender
	cnps           uint64
	rate           float64 // bytes a second, while CNPs came to it
	lasted         int64   // nanoseconds
	slowed         []packet.Addr
	before, during float64 // what those sent in a second before that and meanwhile, in all
	later          string  // how its rate in the second half compares with that in the first
	begun          bool    // the capture begins with the CNPs: before is when they began to come, during is the second half
}

// doesNotSlow tells first which of several senders does not slow down though CNPs come to it all the time, while others do; false: none.
func (t *teller) doesNotSlow(i *Incident, list []sender) bool {
	for _, s := range list {
		u, ok := t.unslowed(s, list)
		if !ok {
			continue
		}
		i.What = fmt.Sprintf("%s; %v does not slow down, while %s %s.", i.What[:len(i.What)-1], u.from, someOf(u.slowed), do(len(u.slowed)))
		when := [2]string{"before that", "meanwhile"}
		if u.begun {
			when = [2]string{"when it began", "in the second half"}
		}
		i.fact("reaction", fmt.Sprintf("%v sent about %s while %s came to it in %s, and %s in the second half of that; %s sent about %s in all %s, and %s %s",
			u.from, perSecondOf(u.rate), count(u.cnps, "CNP"), span(u.lasted), u.later, someOf(u.slowed), perSecondOf(u.before), when[0], perSecondOf(u.during), when[1]))
		i.FitsWith, i.Next = []string{noReaction(u.from)}, []string{reactionPoint(u.from)}
		t.mayDropCNPs(i, u.from)
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
	from, to, then := earlier, since, since
	if u.begun = since-earlier < tellingTime; u.begun {
		from, to, then = since, since+tellingTime, middle
	}
	first, second := t.sentTo(s.way, since, middle), t.sentTo(s.way, middle, until)
	if u.rate == 0 || second < steady*first || u.rate < asFast*t.sentTo(s.way, from, to) {
		return u, false
	}
	if u.later = "no slower"; second < asFast*first {
		u.later = "hardly slower"
	}
	b := t.slowedIn(window{from, to, then, until, u.begun}, u.rate, s.from, list)
	u.slowed, u.before, u.during = b.slowed, b.before, b.during
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
