package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

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
	quiet  time.Duration // since the last message
	first  packet.Addr   // the host that sent its last message before all others
	at     int64         // when that was, nanoseconds since the Unix epoch
	unused []string      // what came to it later
	ahead  []string      // ways that have carried more than others, beyond what they have between rounds
	behind string        // one that has not
}

// dataWay is on which hosts, by number, data go from one to another, and what the second sends in return, such as that it may have more.
type dataWay struct {
	from, to int
	sent     []timing.Sent
	returned []timing.Sent
}

// unfinishedExchange finds it where several hosts went quiet; nil: they stopped as between rounds, or that is not known.
func (t *text) unfinishedExchange() *unfinished {
	if !t.stopped.known {
		t.stopped.known, t.stopped.exchange = true, t.findUnfinished()
	}
	return t.stopped.exchange
}

// findUnfinished looks for what unfinishedExchange returns.
func (t *text) findUnfinished() *unfinished {
	if t.missed() != "" || t.quietTold() == "" {
		return nil
	}
	hosts, list := t.exchanges()
	ways, all := dataWays(list), timing.MessagesOf(list)
	if len(ways) < 2 || len(hosts) < waitHosts || len(hosts) > mostWaiting {
		return nil
	}
	usual, since, ok := betweenRounds(ways, timing.RoundsOf(len(hosts), all))
	now := countsAt(ways, ending)
	if !ok || slices.Equal(now, usual) || !begun(ways, since) {
		return nil
	}
	for k := range now {
		now[k] -= usual[k]
	}
	u := &unfinished{quiet: time.Duration(t.res.Last - slices.MaxFunc(all, func(a, b timing.HostMessage) int { return cmp.Compare(a.End, b.End) }).End)}
	u.compare(hosts, ways, now)
	u.firstOf(hosts, all)
	return u
}

// compare finds the ways that have carried more messages than others, on all connections of two hosts.
func (u *unfinished) compare(hosts []packet.Addr, ways []dataWay, now []int) {
	least, more := slices.Min(now), map[string]int{}
	var order []string
	for k, w := range ways {
		name := fmt.Sprintf("%v sent %v", hosts[w.from], hosts[w.to])
		if _, known := more[name]; !known {
			order = append(order, name)
		}
		more[name] += now[k] - least
	}
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(more[b], more[a]) })
	for _, name := range order {
		switch n := more[name]; {
		case n == 0:
			u.behind = cmp.Or(u.behind, name)
		case len(u.ahead) < waysTold:
			u.ahead = append(u.ahead, name+" "+count(n, "message"))
		}
	}
}

// firstOf finds who sent its last message before all others, and what came to it later.
func (u *unfinished) firstOf(hosts []packet.Addr, all []timing.HostMessage) {
	last := make([]int64, len(hosts))
	for i := range all {
		last[all[i].From] = max(last[all[i].From], all[i].End)
	}
	first := 0
	for h, at := range last {
		if at < last[first] {
			first = h
		}
	}
	u.first, u.at = hosts[first], last[first]
	came := make([]int, len(hosts))
	for i := range all {
		if m := &all[i]; m.To == first && m.End > u.at {
			came[m.From]++
		}
	}
	for h, n := range came {
		if n > 0 {
			u.unused = append(u.unused, fmt.Sprintf("%s of %v", count(n, "message"), hosts[h]))
		}
	}
}

// dataWays finds the ways on which data go.
func dataWays(list []timing.Link) (ways []dataWay) {
	for i := range list {
		l := &list[i]
		for k := range l.Hosts {
			if len(l.Sent[k]) > 0 && l.Bytes[k] >= dataTimes*l.Bytes[1-k] {
				ways = append(ways, dataWay{l.Hosts[k], l.Hosts[1-k], l.Sent[k], l.Sent[1-k]})
			}
		}
	}
	return ways
}

// ending is later than any message.
const ending = math.MaxInt64 - 1

// betweenRounds is by how many messages each way is ahead of the least one between rounds, and when that was last so; ok: it is the same between most of them.
func betweenRounds(ways []dataWay, rounds []timing.Sent) (usual []int, last int64, ok bool) {
	var seen [][]int
	for _, s := range rounds {
		seen = append(seen, countsAt(ways, s.Begin))
	}
	for _, counts := range seen {
		n := 0
		for k, other := range seen {
			if slices.Equal(counts, other) {
				n, last = n+1, rounds[k].Begin
			}
		}
		if n >= fewestRounds && 4*n >= 3*len(seen) {
			return counts, last, true
		}
	}
	return nil, 0, false
}

// begun reports whether each way has carried data since a time, or one has carried none although they were called for: a round of another kind, as a broadcast, uses some of the ways only.
func begun(ways []dataWay, since int64) bool {
	all := true
	for _, w := range ways {
		switch {
		case countOf(w.sent, ending) > countOf(w.sent, since):
		case countOf(w.returned, ending) > countOf(w.returned, since):
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
	for k, w := range ways {
		counts[k] = countOf(w.sent, at)
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

// String says how far the hosts were, and what the first of them to stop had had.
func (u *unfinished) String() string {
	s := fmt.Sprintf("Unfinished: in the last round %s of data more than %s, unlike between rounds.", enumerate(u.ahead), u.behind)
	if len(u.unused) > 0 {
		s += fmt.Sprintf(" %v had %s after its own last one, and sent nothing more.", u.first, enumerate(u.unused))
	}
	return s
}

// head is what the verdict line says of it.
func (u *unfinished) head() string {
	return fmt.Sprintf("the traffic of several hosts stopped in the middle of a round, %s before the capture ends, that of %v first", span(u.quiet), u.first)
}
