package incident

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ibwitness/link"
	"ibwitness/packet"
	"ibwitness/timing"
)

// From how many times the usual time between two requests of an end on it has sent none for long, in all of some pauses, of which each counts that is this many
// times as long.
const unsentTimes, unsentEach = 20, 5

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
				u := unsent{party(&c.Ends[from]), c.Ends[1-from].Addr, 0}
				own, other := slices.Contains(p.waits, c.Ends[waits].Addr), slices.Contains(over, u.to)
				switch {
				case c.Timing == nil:
				case own:
					if u.gap = p.gapOf(&c.Timing.Ends[from], link.Returning); u.gap > 0 {
						list = append(list, u)
					}
				case other:
					if u.gap = p.gapOf(&c.Timing.Ends[from], passedWithin); u.gap > 0 {
						beside = append(beside, u)
					}
				}
			}
		}
		longest := func(a, b unsent) int { return cmp.Compare(b.gap, a.gap) }
		slices.SortStableFunc(list, longest)
		slices.SortStableFunc(beside, longest)
		if p.cameBack {
			p.foremost = true
		} else if !p.says("held") { // no packet of theirs
			p.sentNothing(list)
		}
		p.besides(beside)
	}
}

// gapOf is how long an end sent no request while the port had it wait, as far as its silence lies within a pause and ends when that does, give or
// take some time; 0: it was not silent then, or chance may have had it so, as it is at other times.
func (p *pauseTold) gapOf(e *timing.End, blur int64) (longest time.Duration) {
	if e.Gaps == nil {
		return 0
	}
	usual := e.Gaps.Quantile(0.5)
	blur = max(blur, 2*int64(usual))
	long, sum, in, others := int64(0), time.Duration(0), 0, uint64(0)
	for _, s := range e.Active.Silences {
		fits := slices.ContainsFunc(p.lasted(), func(o link.Lasting) bool {
			return s.From >= o.From-blur && s.To >= o.To-blur && s.To <= o.To+blur && 10*s.Length() >= most*(o.To-o.From)
		})
		if n := s.Length(); fits {
			if in++; long == 0 || n < long {
				long = n
			}
			if longest = max(longest, time.Duration(n)); time.Duration(n) >= unsentEach*usual {
				sum += time.Duration(n)
			}
		}
	}
	if in == 0 || sum < unsentTimes*usual {
		return 0
	}
	if n := e.Gaps.Above(time.Duration(long) * most / 10); n > uint64(in) {
		others = n - uint64(in)
	}
	if chance := float64(others) * 2 * float64(blur) / float64(e.Active.Last-e.Active.First); chance >= tooFew {
		return 0
	}
	return longest
}

// lasted is when the pauses were, as far as that is known: those that lasted long, or all that there was, or the longest.
func (p *pauseTold) lasted() []link.Lasting {
	if list := stretches(p.Paused); len(list) > 0 {
		return list
	}
	from, to := p.span()
	return []link.Lasting{{From: from, To: to - aftermath}}
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
