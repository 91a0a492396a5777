package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/timing"
)

const (
	fewestRounds = 4 // pauses between rounds, after three of four of which each way had carried as many messages more than the others
	dataTimes    = 4 // times as many bytes a message of data has at least as what answers it
	waysTold     = 3
)

// unfinished is an exchange of several hosts that goes in rounds, as a collective does, and that stopped in the middle of one.
type unfinished struct {
	connections int
	quiet       time.Duration // for which none of them has carried anything
	ahead       []string      // ways that have carried more than others in the last round
	behind      string        // one that has not
	first       *stoppedHost  // that the others wait for; nil: the capture does not show which does
	turns       string        // by turns, who waits for whom, and in the end for
	awaited     packet.Addr
}

// dataWay is on which hosts, by number, data go from one to another, and what the second sends in return, such as that it may have more.
type dataWay struct {
	from, to       int
	data, returned sentOn
}

// sentOn is when the messages of an end of a connection were sent: its first and its newest ones.
type sentOn struct {
	first, newest []timing.Sent
	count         int
}

func sentOf(e *timing.End) (s sentOn) {
	s.first, s.newest, s.count = e.AllSent()
	return s
}

// by is how many had been sent at a time, which is none between the first and the newest where some between them are not kept.
func (s *sentOn) by(at int64) int {
	if len(s.newest) > 0 && at >= s.newest[0].Begin {
		return s.count - len(s.newest) + countOf(s.newest, at)
	}
	return countOf(s.first, at)
}

// last is when the newest one ended; 0: there is none.
func (s *sentOn) last() int64 {
	if n := len(s.newest); n > 0 {
		return s.newest[n-1].End
	}
	if n := len(s.first); n > 0 {
		return s.first[n-1].End
	}
	return 0
}

// newestOne is the newest one, where there is one.
func (s *sentOn) newestOne() timing.Sent {
	if n := len(s.newest); n > 0 {
		return s.newest[n-1]
	}
	return s.first[len(s.first)-1]
}

// since returns those that began at a time or later, and from when on all of those are kept.
func (s *sentOn) since(at int64) (list []timing.Sent, from int64) {
	if s.count > len(s.first)+len(s.newest) {
		from = s.newest[0].Begin
	}
	n, _ := slices.BinarySearchFunc(s.first, at, func(s timing.Sent, at int64) int { return cmp.Compare(s.Begin, at) })
	k, _ := slices.BinarySearchFunc(s.newest, at, func(s timing.Sent, at int64) int { return cmp.Compare(s.Begin, at) })
	return slices.Concat(s.first[n:], s.newest[k:]), from
}

// unfinishedExchange finds it where several hosts went quiet; nil: they stopped as between rounds, or that is not known.
func (t *text) unfinishedExchange() *unfinished {
	if !t.stopped.known {
		u := t.findUnfinished()
		if u == nil || u.first == nil {
			u = cmp.Or(t.inTurns(), u)
		}
		t.stopped.known, t.stopped.exchange = true, u
	}
	return t.stopped.exchange
}

// findUnfinished looks for what unfinishedExchange returns, among each group of hosts that connections join.
func (t *text) findUnfinished() *unfinished {
	hosts, all, of := t.exchanged()
	if t.missed() != "" || len(hosts) < waitHosts || len(hosts) > mostWaiting {
		return nil
	}
	group := timing.Groups(len(hosts), all)
	for first := range hosts {
		var list []timing.Link
		var own []*agent.Connection
		for i := range all {
			if group[all[i].Hosts[0]] == first {
				list, own = append(list, all[i]), append(own, of[i])
			}
		}
		if u := t.unfinishedOf(hosts, list, own); u != nil {
			return u
		}
	}
	return nil
}

func (t *text) unfinishedOf(hosts []packet.Addr, list []timing.Link, of []*agent.Connection) *unfinished {
	ended := endedFirst(of)
	if ended == nil && t.quietTold() == "" {
		return nil
	}
	ways := dataWays(list, of)
	if len(ways) < 2 {
		return nil
	}
	rounds, newest, from := roundsKept(len(hosts), list, of)
	usual, ok := betweenRounds(ways, rounds)
	since := lastBetween(ways, usual, newest)
	if !ok || since == 0 || since < from || slices.Equal(countsAt(ways, ending), usual) || ended == nil && !begun(ways, since) {
		return nil
	}
	u, last := &unfinished{connections: len(list)}, int64(0)
	for _, c := range of {
		last = max(last, c.Ends[0].Last, c.Ends[1].Last)
	}
	u.quiet = time.Duration(t.res.Last - last)
	u.compare(hosts, ways, since)
	u.first = t.firstStopped(hosts, ways, of, since)
	if ended != nil {
		if u.first == nil || u.first.host != ended.By {
			return nil
		}
		u.first.ended = fmt.Sprintf("%s (frame %d)", offset(ended.At, t.res.First), ended.Frame)
	}
	return u
}

// roundsKept are the times between rounds, as far as it is known when messages were sent, the times in which nothing was sent where that is known up to the end, and from when on it is.
func roundsKept(hosts int, all []timing.Link, of []*agent.Connection) (rounds, newest []timing.Sent, from int64) {
	for _, c := range of {
		for k := range c.Ends {
			s := sentOf(&c.Timing.Ends[k])
			_, known := s.since(0)
			from = max(from, known)
		}
	}
	early := knownOfAll(slices.Clone(all))
	late := slices.Clone(early)
	for i, c := range of {
		for k := range late[i].Sent {
			if s := sentOf(&c.Timing.Ends[k]); s.count >= waitMessages {
				late[i].Sent[k], _ = s.since(from)
			}
		}
	}
	rounds = slices.DeleteFunc(timing.RoundsOf(hosts, timing.MessagesOf(early)), func(s timing.Sent) bool { return s.End >= from })
	messages := timing.MessagesOf(late)
	return append(rounds, timing.RoundsOf(hosts, messages)...), timing.SilencesOf(messages), from
}

// compare finds the ways that have carried more messages than others since a time, on all connections of two hosts.
func (u *unfinished) compare(hosts []packet.Addr, ways []dataWay, since int64) {
	more := map[string]int{}
	var order []string
	for _, w := range ways {
		name := fmt.Sprintf("%v sent %v", hosts[w.from], hosts[w.to])
		if _, known := more[name]; !known {
			order = append(order, name)
		}
		more[name] += w.data.count - w.data.by(since)
	}
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(more[b], more[a]) })
	least := more[order[len(order)-1]]
	for _, name := range order {
		switch n := more[name] - least; {
		case n == 0:
			u.behind = cmp.Or(u.behind, name)
		case len(u.ahead) < waysTold:
			u.ahead = append(u.ahead, name+" "+count(n, "message"))
		}
	}
}

// dataWays finds the ways on which data go.
func dataWays(list []timing.Link, of []*agent.Connection) (ways []dataWay) {
	for i := range list {
		l := &list[i]
		for k := range l.Hosts {
			if len(l.Sent[k]) > 0 && l.Bytes[k] >= dataTimes*l.Bytes[1-k] {
				ends := &of[i].Timing.Ends
				ways = append(ways, dataWay{l.Hosts[k], l.Hosts[1-k], sentOf(&ends[k]), sentOf(&ends[1-k])})
			}
		}
	}
	return ways
}

// ending is later than any message.
const ending = math.MaxInt64 - 1

// betweenRounds is by how many messages each way is ahead of the least one between rounds; ok: it is the same between most of them.
func betweenRounds(ways []dataWay, rounds []timing.Sent) (usual []int, ok bool) {
	var seen [][]int
	for _, s := range rounds {
		seen = append(seen, countsAt(ways, s.Begin))
	}
	for _, counts := range seen {
		n := 0
		for _, other := range seen {
			if slices.Equal(counts, other) {
				n++
			}
		}
		if n >= fewestRounds && 4*n >= 3*len(seen) {
			return counts, true
		}
	}
	return nil, false
}

// lastBetween is when the last round began to be over: the ways were as far ahead as usual then, and the data that were sent until then are all that were when they were so last. 0: they were not.
func lastBetween(ways []dataWay, usual []int, newest []timing.Sent) (at int64) {
	sent := -1
	for _, s := range slices.Backward(newest) {
		if !slices.Equal(countsAt(ways, s.Begin), usual) {
			if sent >= 0 {
				return at
			}
			continue
		}
		switch n := ways[0].data.by(s.Begin); {
		case sent < 0 || n == sent:
			sent, at = n, s.Begin
		default:
			return at
		}
	}
	return at
}

// begun reports whether each way has carried data since a time, or one has carried none although they were called for: a round of another kind, as a broadcast, uses some of the ways only.
func begun(ways []dataWay, since int64) bool {
	all := true
	for i := range ways {
		w := &ways[i]
		switch {
		case w.data.count > w.data.by(since):
		case w.returned.count > w.returned.by(since):
			return true
		default:
			all = false
		}
	}
	return all
}

// countsAt is by how many messages each way is ahead of the least one at a time.
func countsAt(ways []dataWay, at int64) []int {
	counts := make([]int, len(ways))
	for k := range ways {
		counts[k] = ways[k].data.by(at)
	}
	least := slices.Min(counts)
	for k := range counts {
		counts[k] -= least
	}
	return counts
}

// countOf is how many messages had been sent at a time.
func countOf(sent []timing.Sent, at int64) int {
	n, _ := slices.BinarySearchFunc(sent, at+1, func(s timing.Sent, at int64) int { return cmp.Compare(s.End, at) })
	return n
}

// String says which host the others wait for and what shows that, or how far each was.
func (u *unfinished) String() string {
	if u.first != nil {
		return u.first.String()
	}
	if u.turns != "" {
		return u.turns
	}
	return fmt.Sprintf("Unfinished: %s carry nothing in the last %s, though no request waits for an answer. In the last round %s of data more than %s, unlike between rounds; which host the others wait for does not show.",
		count(u.connections, "connection"), span(u.quiet), enumerate(u.ahead), u.behind)
}

// head is what the verdict line says of it.
func (u *unfinished) head() string {
	if u.first != nil && u.first.ended != "" {
		return fmt.Sprintf("%v disconnected before the others, in the middle of a round of several hosts", u.first.host)
	}
	s := fmt.Sprintf("the traffic of several hosts stopped in the middle of a round, %s before the capture ends", span(u.quiet))
	if u.first != nil {
		s += fmt.Sprintf(": they wait for %v", u.first.host)
	} else if u.turns != "" {
		s += fmt.Sprintf(": they wait for %v", u.awaited)
	}
	return s
}
