package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/timing"
)

// answeredMeanwhile says which other connection of the service between the hosts of c had requests answered during stall s of end from, of either
// host, where it is known: no host had stopped for that long, nor had all paths between them failed where there were such requests all the time. all
// says that every queue pair lost packets.
func (t *teller) answeredMeanwhile(i *Incident, c *agent.Connection, from int, s *qp.Stall, all bool) {
	if s.AnswerLost || !t.timed() || t.backBeforeCopy(c.Ends[1-from].Addr, s) {
		return
	}
	until, list := max(s.Ended, s.Last), t.siblings(c)
	if len(list) > mostOthers {
		return
	}
	for _, requester := range []packet.Addr{c.Ends[from].Addr, c.Ends[1-from].Addr} {
		d, k, n := answeredBeside(list, c, requester, s.Since, until)
		if n == 0 {
			continue
		}
		p := party(&d.Ends[k])
		i.fact("others", fmt.Sprintf("requests of %v were answered by %v meanwhile: at least %s", &p, d.Ends[1-k].Addr, number(n)))
		i.FitsWith = slices.DeleteFunc(i.FitsWith, func(f string) bool { return f == hostStopped })
		if n := slices.Index(i.FitsWith, linkFailed); n >= 0 && !all && 4*unansweredIn(&d.Timing.Ends[k].Series, s.Since, until) <= until-s.Since {
			i.FitsWith[n] = pathFailed
		}
		i.Next = slices.DeleteFunc(i.Next, func(f string) bool { return f == othersToo })
		i.gone = notGone
		return
	}
}

// backBeforeCopy reports whether a host sent nothing at all from a request on until all but the last of its copies had been sent, and something
// after that: its answers to others then are no sign of where these copies were, and the last was answered.
func (t *teller) backBeforeCopy(a packet.Addr, s *qp.Stall) bool {
	if s.Total() != 2 || s.Rounds[qp.TimerExpired] != 2 || s.Ended == 0 {
		return false
	}
	k := t.silentFor(a, s.Since, s.Begun)
	return k != nil && k.To < s.Last && 2*(k.To-s.Since) >= s.Ended-s.Since
}

// pathFailed is what fits in place of linkFailed where others were answered meanwhile.
const pathFailed = "one path of several that failed and came back, which this queue pair takes"

// answeredBeside returns a connection of a list, beside c, on which a host had requests answered between two times, its end there, and how many at least; 0: none is known.
func answeredBeside(list []*agent.Connection, c *agent.Connection, requester packet.Addr, since, until int64) (d *agent.Connection, k int, n uint64) {
	for _, d := range list {
		for k := range d.Ends {
			if d == c || d.Timing == nil || d.Ends[k].Addr != requester || 2*heldUpFor(d, since, until) >= until-since {
				continue
			}
			if n := answeredIn(&d.Timing.Ends[k].Series, since, until); n > 0 {
				return d, k, n
			}
		}
	}
	return nil, 0, 0
}

// carriedNothing reports whether nothing was sent or answered on a connection between two times, and about when something was after them: 0, nothing was. It is known where times were measured.
func carriedNothing(c *agent.Connection, since, until int64) (resumed int64, nothing bool) {
	if c.Timing == nil {
		return 0, false
	}
	for k := range c.Timing.Ends {
		x := &c.Timing.Ends[k]
		var at int64
		var none bool
		if x.Series.Width*4 <= until-since {
			at, none = emptyIn(&x.Series, since, until)
		} else { // the slots are too wide to tell
			at, none = silentIn(&x.Active, since, until)
		}
		if !none {
			return 0, false
		}
		if at != 0 && (resumed == 0 || at < resumed) {
			resumed = at
		}
	}
	return resumed, true
}

// emptyIn reports whether a series has nothing between two times, but at their edges, and when it has something after them.
func emptyIn(x *timing.Series, since, until int64) (resumed int64, empty bool) {
	for n := range x.Slots {
		switch begin := x.Start + int64(n)*x.Width; {
		case begin <= since || x.Slots[n] == (timing.Slot{}):
		case begin+x.Width <= until:
			return 0, false
		case begin >= until:
			return begin, true
		}
	}
	return 0, true
}

// silentIn reports whether an end sent nothing between two times, and when it went on after them; 0: it did not.
func silentIn(a *timing.Activity, since, until int64) (resumed int64, silent bool) {
	if s := a.Silent(since, until); s != nil {
		return s.To, true
	}
	return 0, a.Last <= since || a.First >= until
}

// answeredIn counts the messages of a series that were answered between two times, in slots that lie between them and in which its end sent, too.
func answeredIn(x *timing.Series, since, until int64) (n uint64) {
	for k := range x.Slots {
		if answeredAlso(x, k, since, until) {
			n += uint64(x.Slots[k].Messages)
		}
	}
	return n
}

// answeredAlso reports whether slot k of a series lies between two times, and its end both sent in it and had a message answered.
func answeredAlso(x *timing.Series, k int, since, until int64) bool {
	o, begin := &x.Slots[k], x.Start+int64(k)*x.Width
	return begin > since && begin+x.Width < until && (o.Bytes > 0 || o.Reads > 0) && o.Messages > 0
}

// unansweredIn is the longest part of a time in which no slot has what answeredIn counts, nanoseconds.
func unansweredIn(x *timing.Series, since, until int64) (longest int64) {
	last := since
	for k := range x.Slots {
		if answeredAlso(x, k, since, until) {
			begin := x.Start + int64(k)*x.Width
			longest, last = max(longest, begin-last), begin+x.Width
		}
	}
	return max(longest, until-last)
}
