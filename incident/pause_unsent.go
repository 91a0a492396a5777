package incident

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ibwitness/packet"
	"ibwitness/timing"
)

// From how many times the usual time between two requests of an end on it has sent none for long.
const unsentTimes = 20

// unsent is an end that sent no request while a port had the other end of its link pause, and did before and after.
type unsent struct {
	Party
	to  packet.Addr
	gap time.Duration
}

// unsent says, where times were measured, which ends sent no request while a port did not let go, as an adapter does that is paused: the tap sees no request wait then.
func (t *teller) unsent() {
	if !t.timed() {
		return
	}
	for n := range t.storms {
		p := &t.storms[n]
		if p.storm != 0 {
			continue // what waited is told
		}
		over := t.overSpread(p.Paused)
		var list, beside []unsent
		for k := range t.run.Connections {
			c := &t.run.Connections[k]
			for from := range c.Ends {
				waits := from // whose packets wait, or to whom they are sent
				if !p.from {
					waits = 1 - from
				}
				if c.Timing == nil {
					continue
				}
				gap := p.gapOf(&c.Timing.Ends[from])
				switch u := (unsent{party(&c.Ends[from]), c.Ends[1-from].Addr, gap}); {
				case gap == 0:
				case slices.Contains(p.waits, c.Ends[waits].Addr):
					list = append(list, u)
				case slices.Contains(over, u.to):
					beside = append(beside, u)
				}
			}
		}
		longest := func(a, b unsent) int { return cmp.Compare(b.gap, a.gap) }
		slices.SortStableFunc(list, longest)
		slices.SortStableFunc(beside, longest)
		if !p.says("held") { // no packet of theirs
			p.sentNothing(list)
		}
		p.besides(beside)
	}
}

// gapOf is how long an end sent no request, which it went on with when the pause had ended; 0: it was not for about as long as that lasted, or it does so at other times.
func (p *pauseTold) gapOf(e *timing.End) time.Duration {
	since, until, s := p.Time, p.LastTime, &e.Series
	if 2*p.Most < time.Duration(until-since) {
		since, until = p.LongestSince, p.LongestSince+int64(p.Longest)
	}
	long := time.Duration(until - since)
	if e.Gaps == nil {
		return 0
	}
	for k := range s.Slots {
		begin, gap := s.Start+int64(k)*s.Width, s.Slots[k].Gap
		if begin > until+aftermath || begin+s.Width <= until {
			continue
		}
		if 10*gap >= most*long && gap <= long+long/4+time.Duration(s.Width) && gap >= unsentTimes*e.Gaps.Quantile(0.5) {
			return gap
		}
	}
	return 0
}

// sentNothing says who sent no request.
func (p *pauseTold) sentNothing(list []unsent) {
	if len(list) == 0 {
		return
	}
	p.foremost = true
	var names []string
	for _, u := range list[:min(len(list), stalledTold)] {
		names = append(names, fmt.Sprintf("%v for %s", &u.Party, span(int64(u.gap))))
	}
	if more := len(list) - stalledTold; more > 0 {
		names = append(names, count(uint64(more), "more end"))
	}
	p.What = fmt.Sprintf("%s Meanwhile %v sent no request for %s%s, and went on then.", p.What, &list[0].Party, span(int64(list[0].gap)), norOthers(len(list)-1))
	p.Facts = slices.Insert(p.Facts, 0, Fact{"unsent", strings.Join(names, "; ") + ": requests came much more often before and after"})
}

// besides says who sent no request to other hosts, over a link that a switch had pause too.
func (p *pauseTold) besides(list []unsent) {
	if len(list) == 0 {
		return
	}
	p.foremost = true
	var names []string
	var to []packet.Addr
	for n, u := range list {
		if n < stalledTold {
			names = append(names, fmt.Sprintf("%v to %v for %s", &u.Party, u.to, span(int64(u.gap))))
		}
		if !slices.Contains(to, u.to) {
			to = append(to, u.to)
		}
	}
	if more := len(list) - stalledTold; more > 0 {
		names = append(names, count(uint64(more), "more end"))
	}
	slices.SortFunc(to, packet.Addr.Compare)
	p.What = fmt.Sprintf("%s What goes to %s waited too, for up to %s.", p.What, someOf(to), span(int64(list[0].gap)))
	p.Facts = slices.Insert(p.Facts, 0, Fact{"victims", strings.Join(names, "; ") + ": no request was sent, and these hosts do not pause; such came much more often before and after"})
}

func norOthers(n int) string {
	if n == 0 {
		return ""
	}
	return ", nor did " + count(uint64(n), "other end")
}
