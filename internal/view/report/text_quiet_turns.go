package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/timing"
)

// When a host begins a period, it has completed as many as usual on its other connections: but in one of so many, and so often at least.
const (
	alikeNot   = 10
	alikeLeast = 8
)

// inTurn is a connection whose messages come in turns, as one of its hosts sees it.
type inTurn struct {
	c    *agent.Connection
	end  int // the host's
	p    *timing.Periods
	done int // periods that are complete, less by how many more it usually has than the host's others when the host begins one
}

// peer is the host at the other end.
func (x *inTurn) peer() packet.Addr { return x.c.Ends[1-x.end].Addr }

// own reports whether it is the host's turn.
func (x *inTurn) own() bool { return x.p.Next().From == x.end }

// turnWait is that a host waits for another.
type turnWait struct {
	host packet.Addr
	on   *inTurn
}

// turnsStopped are hosts whose messages came in turns, and who of them waits for whom.
type turnsStopped struct {
	of    map[packet.Addr][]inTurn
	waits map[packet.Addr][]turnWait
	in    []*agent.Connection
	hops  map[packet.Addr]int // through how many others at most it waits
	root  packet.Addr
}

// inTurns tells of hosts that went quiet, whose messages came in turns, and stopped amid these: the others wait for the only one whose turn it is
// where it has a period to complete, or to begin, next. Each of them waits there for a host whose turn it is, and so in the end for that one.
// nil: that is not so.
func (t *text) inTurns() *unfinished {
	q, ok := t.allQuiet()
	if !ok || t.missed() != "" {
		return nil
	}
	s, amid := turnsStopped{of: map[packet.Addr][]inTurn{}, waits: map[packet.Addr][]turnWait{}, hops: map[packet.Addr]int{}}, false
	for _, c := range q.among {
		if c.Timing == nil || commanded(c) {
			continue
		}
		p, ok := timing.PeriodsOf(c.Timing)
		if !ok {
			continue
		}
		s.in, amid = append(s.in, c), amid || p.Came > 0
		for k := range c.Ends {
			s.of[c.Ends[k].Addr] = append(s.of[c.Ends[k].Addr], inTurn{c: c, end: k, p: &p})
		}
	}
	if !amid || len(s.of) < quietHosts || len(s.of) > mostWaiting || !s.leadToOne() || t.asksElsewhere(s.root, s.in) {
		return nil
	}
	u := &unfinished{connections: len(s.in), quiet: time.Duration(t.res.Last - q.newest), awaited: s.root}
	u.turns = t.carryNothing(&q) + t.turnsTold(&s)
	return u
}

// leadToOne finds for whom each host waits, and reports whether all wait for one in the end, which waits for none.
func (s *turnsStopped) leadToOne() bool {
	roots := 0
	for a, list := range s.of {
		if !alike(list) {
			return false
		}
		if s.waits[a] = waitsInTurn(list); len(s.waits[a]) == 0 {
			s.root = a
			roots++
		}
	}
	for a := range s.of {
		if roots != 1 || !s.leads(a) {
			return false
		}
	}
	return true
}

// leads reports whether what a host waits for goes in no circle.
func (s *turnsStopped) leads(a packet.Addr) bool {
	const looking = -1
	if n, seen := s.hops[a]; seen {
		return n != looking
	}
	n := 0
	s.hops[a] = looking
	for _, w := range s.waits[a] {
		if !s.leads(w.host) {
			return false
		}
		n = max(n, s.hops[w.host]+1)
	}
	s.hops[a] = n
	return true
}

// alike takes off by how many periods the connections of a host usually differ when it begins one; false: that differs, or is not known.
func alike(list []inTurn) bool {
	for i := range list {
		list[i].done = len(list[i].p.Complete)
	}
	if len(list) == 1 {
		return true
	}
	seen, usual, all := map[string]int{}, []int(nil), 0
	for i := range list {
		x := &list[i]
		if x.p.Steps[0].From != x.end {
			continue // its peer begins them
		}
		for _, at := range x.p.Begun {
			ahead := aheadAt(list, at)
			seen[fmt.Sprint(ahead)]++
			if all++; usual == nil || seen[fmt.Sprint(ahead)] > seen[fmt.Sprint(usual)] {
				usual = ahead
			}
		}
	}
	if n := seen[fmt.Sprint(usual)]; n < alikeLeast || (all-n)*alikeNot > all {
		return false
	}
	for i := range list {
		list[i].done -= usual[i]
	}
	return true
}

// aheadAt is by how many complete periods each connection is ahead of the first at a time.
func aheadAt(list []inTurn, at int64) []int {
	n := make([]int, len(list))
	for i := range list {
		n[i], _ = slices.BinarySearch(list[i].p.Complete, at)
	}
	for i := len(n) - 1; i >= 0; i-- {
		n[i] -= n[0]
	}
	return n
}

// waitsInTurn is for whom a host waits on those connections on which it has completed the fewest periods; none: it is its turn on each of them,
// or to begin a period.
func waitsInTurn(list []inTurn) (waits []turnWait) {
	least := slices.MinFunc(list, func(x, y inTurn) int { return x.done - y.done }).done
	for i := range list {
		x := &list[i]
		switch {
		case x.done > least:
		case !x.own():
			waits = append(waits, turnWait{x.peer(), x})
		case x.p.Came == 0:
			return nil
		}
	}
	return waits
}

// asksElsewhere reports whether the newest message of a connection of a host, besides some, is its own, to one that sends messages, too: it may wait
// for an answer there.
func (t *text) asksElsewhere(a packet.Addr, but []*agent.Connection) bool {
	for _, c := range t.measured() {
		if slices.Contains(but, c) {
			continue
		}
		if from, at, _ := c.Timing.Newest(); at != 0 && c.Ends[from].Addr == a && c.Ends[1-from].Messages > 0 {
			return true
		}
	}
	return false
}

// turnsTold says who waits for whom, and what each sent last.
func (t *text) turnsTold(s *turnsStopped) string {
	hosts := slices.SortedFunc(maps.Keys(s.of), func(a, b packet.Addr) int { return cmp.Or(cmp.Compare(s.hops[a], s.hops[b]), a.Compare(b)) })
	least, names := math.MaxInt, []string(nil)
	for _, a := range hosts {
		for i := range s.of[a] {
			least = min(least, len(s.of[a][i].p.Complete))
		}
		if a != s.root && len(names) < quietTold {
			names = append(names, t.turnTold(s, a))
		}
	}
	if more := len(hosts) - 1 - len(names); more > 0 {
		names = append(names, count(more, "more host"))
	}
	on, text := "", fmt.Sprintf(" They wait for %v. On %s messages came in the same turns %s or more, and by these %s.",
		s.root, count(len(s.in), "connection"), times(uint64(least)), enumerate(names))
	last := int64(0)
	for i := range s.of[s.root] {
		x := &s.of[s.root][i]
		sent := sentOf(&x.c.Timing.Ends[x.end])
		last = max(last, sent.last())
		if x.p.Came > 0 && x.own() {
			on = fmt.Sprintf(" (the last: %s of %v, %s)", count(uint64(x.p.Last.Bytes), "byte"), x.peer(), offset(x.p.Last.At, t.res.First))
		}
	}
	text += fmt.Sprintf(" %v had all that comes before its turn%s, and sent nothing more there after %s.", s.root, on, offset(last, t.res.First))
	if alive := t.stillAlive(s.root, s.in, last); len(alive) > 0 {
		text += fmt.Sprintf(" Its adapter went on: %s.", strings.Join(alive, ", and "))
	}
	return text + " So its program hangs, or waits for what the capture does not show: look at its stack there."
}

// turnTold says for whom a host waits, and what it sent last.
func (t *text) turnTold(s *turnsStopped, a packet.Addr) string {
	newest, to := timing.Sent{}, packet.Addr{}
	for i := range s.of[a] {
		x := &s.of[a][i]
		if sent := sentOf(&x.c.Timing.Ends[x.end]); sent.last() > newest.End {
			newest, to = sent.newestOne(), x.peer()
		}
	}
	var waits []string
	for _, w := range s.waits[a] {
		what := "to go on"
		switch {
		case w.on.p.Came == 0:
			what = "to begin the next round"
		case w.on.p.Last.From == w.on.end:
			what = fmt.Sprintf("to answer %s of %s", count(uint64(w.on.p.Last.Bytes), "byte"), offset(w.on.p.Last.At, t.res.First))
		}
		waits = append(waits, fmt.Sprintf("%v %s", w.host, what))
	}
	last := fmt.Sprintf("%s to %v, %s", count(uint64(newest.Bytes), "byte"), to, offset(newest.End, t.res.First))
	return fmt.Sprintf("%v (last: %s) waits for %s", a, last, enumerate(waits))
}
