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
	"ibwitness/wqe"
)

// From how many messages between two hosts on, how many hosts, and how many waits on it is told who waited for whom, and from which share of their time on, one in so many; and in which, one in so many, incidents do not count beside that.
const (
	waitMessages  = 16
	waitHosts     = 3
	mostWaiting   = 64
	fewestWaits   = 3
	waitShare     = 10
	incidentShare = 100
)

// waitsTold tells, where times were measured, of a host that several others waited for: each of them went on right after a message of it, or of one that had waited for it. "": there is none.
func (t *text) waitsTold() string {
	hosts, list := t.exchanges()
	if len(hosts) < waitHosts || len(hosts) > mostWaiting {
		return ""
	}
	ring, atTimes := t.slowestOfRing(hosts, list)
	if ring != "" && !atTimes {
		return ring
	}
	in, runs := t.exchangesInRuns()
	if s := cmp.Or(t.lastOfRounds(in, runs, false), ring); s != "" {
		return s
	}
	all := timing.HostWaitsOf(len(hosts), list)
	if s := slowestOfRounds(hosts, all, timing.IsRing(list) || neighbours(all)); s != "" {
		return s
	}
	return cmp.Or(t.lastOfRounds(in, runs, true), slowestOfChain(hosts, all), t.lateOnce())
}

// waitsBeside is waitsTold beside incidents: where they took too little time to be what hosts waited for, or much less than that was, else only of a wait while there was none.
func (t *text) waitsBeside() string {
	lost := time.Duration(0)
	if t.run != nil {
		for _, i := range t.run.Incidents() {
			lost += i.Lost
		}
	}
	if int64(lost)*incidentShare <= t.res.Last-t.res.First {
		return t.waitsTold()
	}
	if hosts, _ := t.exchanges(); len(hosts) >= waitHosts && len(hosts) <= mostWaiting {
		in, runs := t.exchangesInRuns()
		if s := t.lastOfRounds(in, runs, false); s != "" && lost*mainlyLate <= t.waited {
			return s
		}
	}
	t.waited = 0
	return t.lateOnce()
}

// answersSoon reports whether two ends take turns with SENDs, as a client and its server do, and one of them sends many times as soon after the other as the other does after it. Ranks of a job use WRITEs.
func answersSoon(c *agent.Connection) bool {
	if !takeTurns(c) || c.Timing.Ends[0].Ops[wqe.Send] == nil || c.Timing.Ends[1].Ops[wqe.Send] == nil {
		return false
	}
	x, y := c.Timing.Ends[0].Turns.MeanOfAll(), c.Timing.Ends[1].Turns.MeanOfAll()
	return max(x, y) >= longTimes*min(x, y)
}

// hostNumbers numbers hosts, from 0 on.
type hostNumbers struct {
	numbers map[packet.Addr]int
	list    []packet.Addr
}

func (h *hostNumbers) of(a packet.Addr) int {
	n, known := h.numbers[a]
	if !known {
		if h.numbers == nil {
			h.numbers = map[packet.Addr]int{}
		}
		n = len(h.list)
		h.numbers[a], h.list = n, append(h.list, a)
	}
	return n
}

// exchanges lists the connections of hosts and their messages, up to when it is known of all of them when they were sent.
func (t *text) exchanges() (hosts []packet.Addr, list []timing.Link) {
	hosts, list, _ = t.exchanged()
	return hosts, knownOfAll(list)
}

// knownOfAll drops messages after the time up to which it is known of all connections when they were sent.
func knownOfAll(list []timing.Link) []timing.Link {
	until := int64(math.MaxInt64)
	for i := range list {
		for k := range list[i].Sent {
			if sent := list[i].Sent[k]; len(sent) == timing.MostSent {
				until = min(until, sent[len(sent)-1].Begin)
			}
		}
	}
	for i := range list {
		list[i].Until(until)
	}
	return list
}

// exchangesInRuns is exchanges with the later messages in runs, up to when those of all ends are known.
func (t *text) exchangesInRuns() (hosts []packet.Addr, list []timing.Link) {
	hosts, list, of := t.exchanged()
	known := int64(math.MaxInt64)
	for i := range list {
		for k := range list[i].Sent {
			if len(list[i].Sent[k]) == 0 {
				continue
			}
			runs, until := of[i].Timing.Ends[k].Runs()
			if list[i].Runs[k] = runs; until != 0 {
				known = min(known, until)
			}
		}
	}
	if known < math.MaxInt64 {
		for i := range list {
			list[i].UntilRuns(known)
		}
	}
	return hosts, list
}

// exchanged lists the connections of hosts and the first messages of them, as links and as they are.
func (t *text) exchanged() (hosts []packet.Addr, list []timing.Link, of []*agent.Connection) {
	var numbers hostNumbers
	for _, c := range t.measured() {
		if c.Service == packet.UD || commanded(c) || answersSoon(c) {
			continue // a server waits for nothing while its client has nothing to ask
		}
		var l timing.Link
		for k := range c.Ends {
			sent := c.Timing.Ends[k].Sent
			if len(sent) < waitMessages {
				continue
			}
			l.Sent[k], l.Bytes[k] = sent, c.Ends[k].Bytes/max(c.Ends[k].Messages, 1)
		}
		if len(l.Sent[0])+len(l.Sent[1]) > 0 {
			l.Hosts = [2]int{numbers.of(c.Ends[0].Addr), numbers.of(c.Ends[1].Addr)}
			list, of = append(list, l), append(of, c)
		}
	}
	return numbers.list, list, of
}

// slowestOfRounds tells of a host, or two, that others wait for which have as many messages of each peer, as in all that goes in rounds. In a ring, each waits for its neighbours: of those which went on by themselves
// after as long a time none is late.
func slowestOfRounds(hosts []packet.Addr, all []timing.HostWaits, ring bool) string {
	late, by, told := []int(nil), []string(nil), (*timing.WaitFor)(nil)
	total, count := time.Duration(0), 0
	waits := rootWaits(all)
	for n, list := range waits {
		sum, times := time.Duration(0), 0
		for i := range list {
			f := &list[i]
			sum, times = sum+f.Time, times+f.Count
			if 2*all[f.Host].Own < f.Time || 2*f.First > f.Time {
				return "" // it waits itself, and it is not known for what; or it begins each round after a pause, and nobody has come before it
			}
			if !slices.Contains(late, f.Host) {
				late = append(late, f.Host)
			}
			if told == nil || f.Longest > told.Longest {
				told = f
			}
		}
		if len(list) > 0 {
			by = append(by, hosts[n].String())
		}
		if sum > total {
			total, count = sum, times
		}
	}
	if told == nil || len(late) > mostLate || ring && !standOut(all, late) {
		return ""
	}
	slices.SortFunc(late, func(a, b int) int { return hosts[a].Compare(hosts[b]) })
	who, went, whom := by[0], "it", hosts[late[0]].String()
	if len(by) > 1 {
		who, went = "each of "+enumerate(by), "they"
	}
	if len(late) > 1 {
		whom += " or " + hosts[late[1]].String()
	}
	return fmt.Sprintf("Waits: %s had no message for up to %s, %s, %s in all, until one of %s came, and %s went on within %s of that; the other peers send as many. The program on %s was late, or what it waits for itself.",
		who, span(told.Longest), times(uint64(count)), span(total), whom, went, span(told.Lag), whom)
}

// neighbours reports whether each host has messages of two others at most, as in rings of either direction.
func neighbours(all []timing.HostWaits) bool {
	return !slices.ContainsFunc(all, func(w timing.HostWaits) bool { return len(w.Peers) > mostLate })
}

// standOut reports whether some hosts took much longer than each of the others until they went on by themselves.
func standOut(all []timing.HostWaits, late []int) bool {
	least, most := time.Duration(math.MaxInt64), time.Duration(0)
	for n := range all {
		if slices.Contains(late, n) {
			least = min(least, all[n].Own)
		} else {
			most = max(most, all[n].Own)
		}
	}
	return least >= mainlyLate*most
}

// rootWaits returns for which one or two hosts each host waited most: not for those which waited themselves, where others did not.
func rootWaits(all []timing.HostWaits) [][]timing.WaitFor {
	lists := make([][]timing.WaitFor, len(all))
	root := false
	for n := range all {
		if w := &all[n]; len(w.Peers) >= waitHosts-1 && balanced(w.Peers) {
			lists[n] = slices.Clone(longest(w))
		}
	}
	waited := func(f timing.WaitFor) bool { return len(lists[f.Host]) > 0 }
	for _, list := range lists {
		root = root || slices.ContainsFunc(list, func(f timing.WaitFor) bool { return !waited(f) })
	}
	if !root {
		return lists
	}
	out := make([][]timing.WaitFor, len(lists))
	for n, list := range lists {
		out[n] = slices.DeleteFunc(slices.Clone(list), waited)
	}
	return out
}

// Of how many hosts it is told at most that others wait for them, and from how many waits on half as much as all others is enough.
const (
	mostLate   = 2
	manyWaits  = 8
	mainlyLate = 4
	halfAsLate = 2
	atOncePart = 50 // of a wait, one in so many, after which a host goes on at once
)

// longest returns the one or two hosts that a host waited for most of the time that it waited; nil: there are none.
func longest(w *timing.HostWaits) []timing.WaitFor {
	all, sum := time.Duration(0), time.Duration(0)
	for _, f := range w.For {
		all += f.Time
	}
	if int64(all)*waitShare < w.To-w.From {
		return nil
	}
	for n := range w.For[:min(len(w.For), mostLate)] {
		f := &w.For[n]
		if f.Count < fewestWaits || f.Time < mainlyLate*f.Longest {
			return nil // as where all pause a few times, and any of them begins first
		}
		switch sum += f.Time; {
		case w.Own*halfAsLate > sum, w.Own*mainlyLate > sum && f.Lag*atOncePart > f.Longest:
			return nil // it goes on by itself as well
		case (all-sum)*mainlyLate <= sum, n == 0 && f.Count >= manyWaits && (all-sum)*halfAsLate <= sum:
			return w.For[:n+1]
		case n == 0 && len(w.Peers) <= mostLate:
			return nil // the two are all that there are
		}
	}
	return nil
}

// balanced reports whether each peer sent about as many messages.
func balanced(list []timing.PeerMessages) bool {
	least, most := list[0].Count, list[0].Count
	for _, p := range list {
		least, most = min(least, p.Count), max(most, p.Count)
	}
	return 4*least >= 3*most
}

// oneSender reports whether each host has messages of one other only, or all but the one that goes on by itself have, of another each: as in a ring beside which something more is sent.
func oneSender(all []timing.HostWaits, root int) bool {
	of := map[int]bool{}
	for n := range all {
		switch peers := all[n].Peers; {
		case n == root:
		case len(peers) != 1:
			return false
		default:
			of[peers[0].Host] = true
		}
	}
	return len(all[root].Peers) == 1 || len(of) == len(all)-1
}

// slowestOfChain tells of a host that others wait for, each for the one that sends to it, as in a ring.
func slowestOfChain(hosts []packet.Addr, all []timing.HostWaits) string {
	root, waiting := -1, []int(nil)
	for n := range all {
		w := &all[n]
		waited, elapsed := time.Duration(0), w.To-w.From
		if len(w.For) > 0 && w.For[0].Count >= fewestWaits {
			waited = w.For[0].Time
		}
		switch own := int64(w.Own)*waitShare >= elapsed; {
		case int64(waited)*waitShare >= elapsed && waited > w.Own:
			waiting = append(waiting, n)
		case own && 4*waited < w.Own && root < 0:
			root = n
		case own && 4*waited < w.Own:
			return "" // there are several
		}
	}
	if root < 0 || len(waiting) < waitHosts-1 || len(all[root].Peers) == 0 || !oneSender(all, root) { // from where nothing is sent to, all comes, as fast as it is made
		return ""
	}
	r := &all[root]
	leads := 0
	var names []string
	for _, n := range waiting {
		names = append(names, hosts[n].String())
		for at, hops := n, 0; hops < len(all); hops++ {
			if at = all[at].Peers[0].Host; at == root {
				leads++
				break
			}
		}
	}
	if leads < len(waiting) {
		return ""
	}
	for n := range all {
		if n != root && all[n].Longest*halfAsLate > r.Longest {
			return "" // as any of them does, where a round begins
		}
	}
	return fmt.Sprintf("Waits: %s send nothing for long until a message of the host before them comes, and then go on at once; first of all they wait for %v, which goes on by itself, up to %s after the last message to it. Its program is late (it computes, or is stopped): look there.",
		enumerate(names), hosts[root], span(r.Longest))
}
