package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"ibwitness/agent"
	"ibwitness/packet"
)

// stoppedHost is a host that others wait for in a round: it had data that it passed on in no message of its own, and was not waiting to be called for them.
type stoppedHost struct {
	host     packet.Addr
	at       string // when it sent its last data
	sent     int    // messages of data, in the round
	had      int    // more came to it
	from     []string
	called   []string // who called for how many messages more than it sent
	then     string   // who stopped after it, and how far each was
	passed   bool     // each of these had passed on what it had
	began    bool     // the round
	ended    string   // when it disconnected, before the others; "": it did not
	answered string   // until when it still answered data with messages, as part of its program went on; "": it did not
	alive    []string // what shows that its host or adapter went on
}

// roundOf is how far a host got in a round.
type roundOf struct {
	host     int
	sent     int // messages of data
	came     int
	begins   bool  // data go from it, and come to it
	last     int64 // when it sent its last data
	answered int64 // and its last message in return for data
	returned int   // how many of those it sent
	starving bool  // it has sent as many messages as it was called for, or may have
	called   []int // how many messages more than it sent each of the hosts called for
}

// roundsOf finds how far each host got since the time between rounds.
func roundsOf(hosts int, ways []dataWay, since int64) []roundOf {
	all := make([]roundOf, hosts)
	sends, has := make([]bool, hosts), make([]bool, hosts)
	for h := range all {
		all[h].host, all[h].called = h, make([]int, hosts)
	}
	for i := range ways {
		w := &ways[i]
		n := w.data.count - w.data.by(since)
		x := &all[w.from]
		x.sent, all[w.to].came = x.sent+n, all[w.to].came+n
		sends[w.from], has[w.to] = true, true
		x.last, all[w.to].answered = max(x.last, w.data.last()), max(all[w.to].answered, w.returned.last())
		back := w.returned.count - w.returned.by(since)
		all[w.to].returned += back
		switch per := w.perReturned(since); {
		case per > 0:
			x.starving = x.starving || w.data.count-per*w.returned.count >= w.mostAhead(per)
			x.called[w.to] += max(back*per-n, 0)
		case w.returned.count >= waitMessages:
			x.starving = true // it is not known for how many it was called
		}
	}
	for h := range all {
		all[h].begins = sends[h] && has[h]
	}
	return all
}

// perReturned is how many messages of data there are for each that was returned, up to a time between rounds; 0: that is not known.
func (w *dataWay) perReturned(until int64) int {
	data, returned := w.data.by(until), w.returned.by(until)
	if returned < quietMessages/4 {
		return 0
	}
	per := (data + returned/2) / returned
	if off := data - per*returned; max(off, -off) > per*returned/16 {
		return 0
	}
	return per
}

// mostAhead is by how many messages of data the sender was ahead at most of what was returned, of which each calls for, or answers, so many, as far as that is kept.
func (w *dataWay) mostAhead(per int) int {
	most := math.MinInt
	for n := range w.data.first {
		back := w.returned.by(w.data.first[n].Begin)
		if back == len(w.returned.first) && w.returned.count > back {
			break // those that came later are not kept
		}
		most = max(most, n+1-per*back)
	}
	return most
}

// firstStopped finds the host that the others wait for: the only one that has not begun the round; or that had more data in it than it passed on, and was not waiting to be called for them, and that has sent the fewest and stopped
// before all others. nil: it does not show.
func (t *text) firstStopped(hosts []packet.Addr, ways []dataWay, of []*agent.Connection, since int64) *stoppedHost {
	all := roundsOf(len(hosts), ways, since)
	x, others := notBegun(all), []*roundOf(nil)
	if x == nil {
		x = heldUp(all)
	}
	if x == nil {
		return nil
	}
	s := &stoppedHost{host: hosts[x.host], at: offset(x.last, t.res.First), sent: x.sent, had: x.came - x.sent, began: x.began()}
	for h := range all {
		if o := &all[h]; o != x && o.last != 0 && (o.begins || o.sent > 0) {
			others = append(others, o)
		}
	}
	slices.SortStableFunc(others, func(a, b *roundOf) int { return cmp.Compare(a.last, b.last) })
	if len(others) == 0 || s.began && (others[0].last < x.last || slices.ContainsFunc(others, func(o *roundOf) bool { return o.sent < x.sent })) {
		return nil
	}
	s.then = t.stoppedThen(hosts, others)
	s.passed = !slices.ContainsFunc(others, func(o *roundOf) bool { return o.came > o.sent })
	s.given(hosts, ways, x)
	if s.alive = t.stillAlive(s.host, of, max(x.last, x.answered)); s.began && x.answered > others[0].last {
		s.answered = offset(x.answered, t.res.First)
	}
	return s
}

// given notes who had sent it data, and who had called for some.
func (s *stoppedHost) given(hosts []packet.Addr, ways []dataWay, x *roundOf) {
	for h, n := range x.called {
		if n > 0 {
			s.called = append(s.called, fmt.Sprintf("%v called for %s", hosts[h], count(n, "message")))
		}
	}
	for i := range ways {
		if a := hosts[ways[i].from].String(); ways[i].to == x.host && !slices.Contains(s.from, a) {
			s.from = append(s.from, a)
		}
	}
}

// began reports whether the host has sent anything in the round.
func (r *roundOf) began() bool { return r.sent+r.returned > 0 }

// notBegun finds the only host, of those to and from which data go, that has not begun the round, where all others have; nil: there is none.
func notBegun(all []roundOf) (x *roundOf) {
	for h := range all {
		switch o := &all[h]; {
		case !o.begins || o.began():
		case x != nil:
			return nil
		default:
			x = o
		}
	}
	return x
}

// heldUp finds the only host that had more data than it passed on, and was not waiting to be called for them; nil: there is none, or several have not begun the round.
func heldUp(all []roundOf) (x *roundOf) {
	for h := range all {
		switch o := &all[h]; {
		case !o.begins:
		case x != nil && o.came > o.sent && !o.starving, !o.began():
			return nil
		case o.came > o.sent && !o.starving:
			x = o
		}
	}
	return x
}

// stoppedThen names hosts with how many messages of data each sent in the round, and when the last.
func (t *text) stoppedThen(hosts []packet.Addr, list []*roundOf) string {
	var names []string
	for _, o := range list[:min(len(list), quietTold)] {
		names = append(names, fmt.Sprintf("%v (%d, %s)", hosts[o.host], o.sent, offset(o.last, t.res.First)))
	}
	if more := len(list) - len(names); more > 0 {
		names = append(names, number(uint64(more))+" more")
	}
	return enumerate(names)
}

// stillAlive says what shows that the adapter of a host, and the host, went on after a time: what it acknowledged on some connections, and what it did on others.
func (t *text) stillAlive(host packet.Addr, of []*agent.Connection, since int64) (list []string) {
	acked, other, peer, went := int64(0), int64(0), packet.Addr{}, ""
	for i := range t.res.Connections {
		c := &t.res.Connections[i]
		for k := range c.Ends {
			e := &c.Ends[k]
			switch {
			case e.Addr != host || e.Last <= since:
			case !slices.Contains(of, c):
				if e.Last > other {
					if other, peer, went = e.Last, c.Ends[1-k].Addr, "went on with"; e.Messages == 0 {
						went = "acknowledged messages of"
					}
				}
			case c.Timing.Ends[k].LastRequest() > 0 && c.Timing.Ends[k].LastRequest() < e.Last:
				acked = max(acked, e.Last)
			}
		}
	}
	if acked > 0 {
		list = append(list, "it acknowledged data until "+offset(acked, t.res.First))
	}
	if other >= since+int64(quietTime) {
		list = append(list, fmt.Sprintf("it %s %v until %s", went, peer, offset(other, t.res.First)))
	}
	return list
}

// String says which it is, with what shows it.
func (s *stoppedHost) String() string {
	text := fmt.Sprintf("Unfinished: the others wait for %v. ", s.host)
	if s.ended != "" {
		text = fmt.Sprintf("Unfinished: %v disconnected first, at %s, in the middle of a round. The others waited for it. ", s.host, s.ended)
	}
	switch {
	case !s.began:
		text += "It sent nothing in the last round, which all others began"
		if len(s.called) > 0 {
			text += ", though " + enumerate(s.called)
		}
	case s.sent == 0:
		text += fmt.Sprintf("It sent no data in the last round, though %s had come to it from %s", count(s.had, "message"), enumerate(s.from))
	default:
		text += fmt.Sprintf("It sent its last data at %s, before all others: %s in the last round, though %s more had come to it from %s", s.at, count(s.sent, "message"), count(s.had, "message"), enumerate(s.from))
	}
	if s.began && len(s.called) > 0 {
		text += fmt.Sprintf(", and %s more", enumerate(s.called))
	}
	if s.began || s.ended != "" {
		text += fmt.Sprintf(". The others sent their last data later: %s", s.then)
	}
	if s.began && s.passed {
		text += ", each of which had passed on what it had"
	}
	text += "."
	if s.ended != "" {
		return text + fmt.Sprintf(" Its last data were at %s. So its program ended (it was killed, or failed), or gave up: look at its log and exit status there.", s.at)
	}
	if len(s.alive) > 0 {
		text += fmt.Sprintf(" Its adapter went on: %s.", strings.Join(s.alive, ", and "))
	}
	if s.answered != "" {
		return text + fmt.Sprintf(" It still answered data with messages until %s, so only the part of its program that passes data on hangs, or that waits for what the capture does not show: look at its stack and its GPU there.", s.answered)
	}
	return text + " So its program hangs, or waits for what the capture does not show: look at its stack and its GPU there."
}

// endedFirst is how the first of some connections ended, where a host disconnected all that it has of them, and before any other did; nil: none did.
func endedFirst(of []*agent.Connection) *agent.Closed {
	var first *agent.Closed
	for _, c := range of {
		if c.Closed.At != 0 && (first == nil || c.Closed.At < first.At) {
			first = &c.Closed
		}
	}
	if first == nil || first.By.IsZero() {
		return nil
	}
	last, own := first.At, 0
	for _, c := range of {
		if c.Ends[0].Addr != first.By && c.Ends[1].Addr != first.By {
			continue
		}
		if own++; c.Closed.At == 0 || c.Closed.By != first.By {
			return nil
		}
		last = max(last, c.Closed.At)
	}
	for _, c := range of {
		if c.Closed.At != 0 && c.Closed.By != first.By && c.Closed.At <= last {
			return nil
		}
	}
	if own < 2 || own == len(of) {
		return nil
	}
	return first
}
