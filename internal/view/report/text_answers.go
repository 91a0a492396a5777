package report

import (
	"fmt"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/timing"
)

// answers is which end of a connection answers each message of the other with one of its own, where that is known and the protocol above is not.
func answers(c *agent.Connection) (a timing.Answers, ok bool) {
	if c.Timing == nil || !c.Service.Reliable() || commanded(c) {
		return a, false
	}
	a, ok = c.Timing.Exchange.Answers()
	return a, ok && !a.Chance
}

// commanded reports whether the commands of a connection are told one by one.
func commanded(c *agent.Connection) bool {
	return c.Upper != nil && c.Upper.Answered && c.Upper.Answers > 0
}

// slower is a connection on which answers took many times as long for a part of the time.
type slower struct {
	c *agent.Connection
	a timing.Answers
	timing.Change
}

// changes tells of the connections on which answers took many times as long from some time on: those of one host, of which one time has something in common, once.
func (t *text) changes() (list []string) {
	var told []slower
	more := map[int]int{} // by place in told, how many others there are
	for _, c := range t.measured() {
		k, ok := slowerOn(c)
		if !ok {
			continue
		}
		host := c.Ends[k.a.By].Addr
		n := slices.IndexFunc(told, func(o slower) bool { return o.c.Ends[o.a.By].Addr == host && o.From < k.To && k.From < o.To })
		if n >= 0 {
			more[n]++
			continue
		}
		told = append(told, k)
	}
	for n, k := range told {
		e := &k.c.Ends[k.a.By]
		s := answersEach(k.c, &k.a) + t.change(&k.Change) + ordered(&k.a) + transported(k.c, k.a.Waits.Most) + "."
		if more[n] > 0 {
			s += fmt.Sprintf(" On %s of %v it took many times as long then, too.", count(more[n], "other connection"), e.Addr)
		}
		list = append(list, s)
	}
	return list
}

// ordered says on what it rests how long each message waited, where several do at once; "": on nothing.
func ordered(a *timing.Answers) string {
	if a.Depth == 1 {
		return ""
	}
	return ", if it answers them in the order in which they came"
}

// slowerOn finds from when on answers on a connection took many times as long.
func slowerOn(c *agent.Connection) (k slower, ok bool) {
	a, ok := answers(c)
	if !ok || a.Waits == nil || c.Ends[0].Trouble != nil || c.Ends[1].Trouble != nil {
		return k, false
	}
	change, ok := a.Waits.Change()
	return slower{c, a, change}, ok
}

// answersEach says that an end answers each message of its peer.
func answersEach(c *agent.Connection, a *timing.Answers) string {
	e, peer := &c.Ends[a.By], &c.Ends[1-a.By]
	return fmt.Sprintf("%v %s answers each message of %v %s with one of its own%s: ", e.Addr, qp(e.QPN, e.QPNKnown), peer.Addr, qp(peer.QPN, peer.QPNKnown), atOnce(a.Depth))
}

// answersOf says how long the program of an end took to answer messages, where it is long at times; "": not for long, or from some time on.
func answersOf(c *agent.Connection, a *timing.Answers) string {
	w := a.Waits
	if w == nil || w.Changes() || c.Ends[0].Trouble != nil || c.Ends[1].Trouble != nil || onlyFewer(a) {
		return ""
	}
	s := answersEach(c, a)
	usual, long := w.Latency.Quantile(0.5), w.Latency.Above(timing.LongTurn)
	switch {
	case w.Most < timing.LongTurn || w.Most < longTimes*usual && w.Mean() < timing.LongTurn:
		return ""
	case a.Depth == 1:
		s += fmt.Sprintf("usually %s later, but %s", span(usual), longTaken(long, w.Most, w.Frame, "at most"))
	default:
		s += fmt.Sprintf("%s later in the mean, in whatever order it does, and at least one %s (frame %d)", span(w.Mean()), span(w.Most), w.Frame)
		s += unless(&hung{c: c, a: *a})
	}
	return s + transported(c, w.Most) + "."
}

// fewerBy is which part of the messages of its peer, one in so many, an end has sent fewer, where the two may send when they like.
const fewerBy = 20

// onlyFewer reports whether an end that seems to answer several messages at once may only send fewer than its peer: when the capture ends, more than half of the most that ever waited do, and these are a good part of all.
func onlyFewer(a *timing.Answers) bool {
	return a.Depth > 1 && 2*a.Open > a.Depth && fewerBy*uint64(a.Open) > a.Requests
}

// atOnce says of how many messages at once; "": of one at a time.
func atOnce(n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(", up to %d at once", n)
}

// slowdown is to what share of the rate before, one in so many, it falls at least where nothing but how long each takes has changed.
const slowdown = 2

// change says from when on it took how many times as long.
func (t *text) change(k *timing.Change) string {
	when := "from about " + t.about(k.From) + " on"
	switch {
	case !k.Before:
		when = "until about " + t.about(k.To)
	case k.After:
		when = fmt.Sprintf("from about %s to %s", t.about(k.From), t.about(k.To))
	}
	s := fmt.Sprintf("%s it took %.0f times as long, %s in place of %s in the mean, at %s in place of %s a second", when, float64(k.Then)/float64(max(k.Usual, 1)), span(k.Then), span(k.Usual),
		number(uint64(k.ThenRate)), number(uint64(k.UsualRate)))
	if k.ThenRate > k.UsualRate/slowdown { // so that there may have been more to answer
		s += fmt.Sprintf(", with %.2g in place of %.2g outstanding", k.ThenRate*k.Then.Seconds(), k.UsualRate*k.Usual.Seconds())
	}
	return s
}

// about is a time of the capture to two or three digits.
func (t *text) about(ns int64) string {
	return fmt.Sprintf("+%.2f s", time.Duration(ns-t.res.First).Seconds())
}

// transported says that requests of a connection were acknowledged soon, against the longest that an answer took; "": some were not.
func transported(c *agent.Connection, answer time.Duration) string {
	most := c.SlowestMessage()
	if most == 0 || most >= paceLatency*lateTimes && most*longTimes > answer {
		return ""
	}
	return fmt.Sprintf(", while no request waited longer than %s for its ACK: the time went by in its program, or where that waits", span(most))
}
