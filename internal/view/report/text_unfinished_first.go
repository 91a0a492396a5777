package report

import (
	"cmp"
	"fmt"
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
	starving bool  // it was called for fewer messages than usual for as many as it sent
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
		if per := w.perReturned(since); per > 0 {
			calls := (w.returned.count-w.returned.by(since))*per - n
			x.starving = x.starving || calls < 0
			x.called[w.to] += max(calls, 0)
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

// firstStopped finds the host that the others wait for: the only one that had more data in the round than it passed on, and was not waiting to be called for them. It has sent the fewest, and stopped before all others. nil: it does not show.
func (t *text) firstStopped(hosts []packet.Addr, ways []dataWay, of []*agent.Connection, since int64) *stoppedHost {
	x, others := heldUp(roundsOf(len(hosts), ways, since))
	if x == nil {
		return nil
	}
	s := &stoppedHost{host: hosts[x.host], at: offset(x.last, t.res.First), sent: x.sent, had: x.came - x.sent, then: t.stoppedThen(hosts, others)}
	s.passed = !slices.ContainsFunc(others, func(o *roundOf) bool { return o.came > o.sent })
	for h, n := range x.called {
		if n > 0 {
			s.called = append(s.called, fmt.Sprintf("%v called for %s more", hosts[h], count(n, "message")))
		}
	}
	for i := range ways {
		if a := hosts[ways[i].from].String(); ways[i].to == x.host && !slices.Contains(s.from, a) {
			s.from = append(s.from, a)
		}
	}
	if s.alive = t.stillAlive(s.host, of, max(x.last, x.answered)); x.answered > x.last {
		s.answered = offset(x.answered, t.res.First)
	}
	return s
}

// heldUp finds that host, and the others in the order in which they sent their last data; nil: there is none.
func heldUp(all []roundOf) (x *roundOf, others []*roundOf) {
	for h := range all {
		if o := &all[h]; o.begins && o.came > o.sent && !o.starving {
			if x != nil {
				return nil, nil
			}
			x = o
		}
	}
	if x == nil {
		return nil, nil
	}
	for h := range all {
		switch o := &all[h]; {
		case o == x || o.last == 0 || !o.begins && o.sent == 0:
		case o.sent < x.sent || o.last < x.last:
			return nil, nil
		default:
			others = append(others, o)
		}
	}
	if len(others) == 0 {
		return nil, nil
	}
	slices.SortStableFunc(others, func(a, b *roundOf) int { return cmp.Compare(a.last, b.last) })
	return x, others
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
	acked, other, peer := int64(0), int64(0), packet.Addr{}
	for i := range t.res.Connections {
		c := &t.res.Connections[i]
		for k := range c.Ends {
			e := &c.Ends[k]
			switch {
			case e.Addr != host || e.Last <= since:
			case !slices.Contains(of, c):
				if e.Last > other {
					other, peer = e.Last, c.Ends[1-k].Addr
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
		list = append(list, fmt.Sprintf("it went on with %v until %s", peer, offset(other, t.res.First)))
	}
	return list
}

// String says which it is, with what shows it.
func (s *stoppedHost) String() string {
	text := fmt.Sprintf("Unfinished: the others wait for %v. It sent its last data at %s, before all others: %s in the last round, though %s more had come to it from %s",
		s.host, s.at, count(s.sent, "message"), count(s.had, "message"), enumerate(s.from))
	if len(s.called) > 0 {
		text += ", and " + enumerate(s.called)
	}
	text += fmt.Sprintf(". After it stopped %s", s.then)
	if s.passed {
		text += ", each of which had passed on what it had"
	}
	text += "."
	if len(s.alive) > 0 {
		text += fmt.Sprintf(" Its adapter lives: %s.", strings.Join(s.alive, ", and "))
	}
	if s.answered != "" {
		return text + fmt.Sprintf(" It still answered data with messages until %s, so only the part of its program that passes data on hangs, or that waits for what the capture does not show: look at its stack and its GPU there.", s.answered)
	}
	return text + " So its program hangs, or waits for what the capture does not show: look at its stack and its GPU there."
}
