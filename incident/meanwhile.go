package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/qp"
	"ibwitness/timing"
)

// answeredMeanwhile says which other connection of the service between the hosts of c had requests answered during stall s of end from, where it is known: no host had stopped for that long.
func (t *teller) answeredMeanwhile(i *Incident, c *agent.Connection, from int, s *qp.Stall) {
	if s.AnswerLost || !t.timed() {
		return
	}
	until, list := max(s.Ended, s.Last), t.siblings(c)
	if len(list) > mostOthers {
		return
	}
	for _, d := range list {
		for k := range d.Ends {
			if d == c || d.Timing == nil || d.Ends[k].Addr != c.Ends[from].Addr || 2*heldUpFor(d, s.Since, until) >= until-s.Since {
				continue
			}
			n := answeredIn(&d.Timing.Ends[k].Series, s.Since, until)
			if n == 0 {
				continue
			}
			p := party(&d.Ends[k])
			i.fact("others", fmt.Sprintf("requests of %v were answered by %v meanwhile: at least %s", &p, i.Peer.Addr, number(n)))
			i.FitsWith = slices.DeleteFunc(i.FitsWith, func(f string) bool { return f == hostStopped })
			i.Next = slices.DeleteFunc(i.Next, func(f string) bool { return f == othersToo })
			i.gone = notGone
			return
		}
	}
}

// carriedNothing reports whether nothing was sent or answered on a connection between two times, and about when something was after them: 0, nothing was. It is known where times were measured.
func carriedNothing(c *agent.Connection, since, until int64) (resumed int64, nothing bool) {
	if c.Timing == nil {
		return 0, false
	}
	for k := range c.Timing.Ends {
		x := &c.Timing.Ends[k].Series
		if x.Width == 0 {
			continue
		}
		if 4*x.Width > until-since {
			return 0, false // the slots are too wide to tell
		}
		for n := range x.Slots {
			begin := x.Start + int64(n)*x.Width
			if begin <= since || x.Slots[n] == (timing.Slot{}) {
				continue
			}
			if begin+x.Width <= until {
				return 0, false
			}
			if begin >= until && (resumed == 0 || begin < resumed) {
				resumed = begin
			}
		}
	}
	return resumed, true
}

// answeredIn counts the messages of a series that were answered between two times, in slots that lie between them and in which its end sent, too.
func answeredIn(x *timing.Series, since, until int64) (n uint64) {
	for k := range x.Slots {
		o, begin := &x.Slots[k], x.Start+int64(k)*x.Width
		if begin > since && begin+x.Width < until && (o.Bytes > 0 || o.Reads > 0) {
			n += uint64(o.Messages)
		}
	}
	return n
}
