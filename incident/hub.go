package incident

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
)

// hubs makes incidents one in which what one host had with several others made no progress at the same time, or in which it lost several others, where nothing shows that it went on with any. In
// peers those who wait have the host in common that they wait for; here it may be on either side.
func (t *teller) hubs(list []Incident) []Incident {
	var waited, lost, here []*Incident
	for n := range list {
		switch i := &list[n]; {
		case i.gone == goneFor:
			waited = append(waited, i)
		case i.gone == goneQuiet && i.Kind == Unanswered && !i.says("others"):
			lost = append(lost, i)
		case i.gone == goneHere && i.Kind == Unanswered:
			here = append(here, i)
		}
	}
	merged := map[*Incident]bool{}
	for len(waited) > 0 {
		n := begunTogether(waited, true)
		if x, others := hubOf(waited[:n]); n > 1 && len(others) > 1 && overlap(waited[:n]) && !t.wentOn(x, others, waited[:n]) {
			hub(x, others, waited[:n], merged)
		}
		waited = waited[n:]
	}
	lostByOne(lost, merged)
	lostByOne(here, merged)
	return without(list, merged)
}

// lostByOne makes incidents one in which one host lost several others, or these and it one another.
func lostByOne(lost []*Incident, merged map[*Incident]bool) {
	for len(lost) > 0 {
		n := begunTogether(lost, false)
		if x, others := hubOf(lost[:n]); n > 1 && len(others) > 1 && slices.ContainsFunc(lost[:n], func(i *Incident) bool { return i.Local.Addr == x }) {
			hub(x, others, lost[:n], merged)
		}
		lost = lost[n:]
	}
}

// says reports whether an incident has a fact with a label.
func (i *Incident) says(label string) bool {
	return slices.ContainsFunc(i.Facts, func(f Fact) bool { return f.Label == label })
}

// hubOf returns the host that all incidents have in common, and the others; none: there is no such host, or they are of one kind or certainty no more.
func hubOf(all []*Incident) (x packet.Addr, others []packet.Addr) {
	for _, x := range [...]packet.Addr{all[0].Local.Addr, all[0].Peer.Addr} {
		others = others[:0]
		for _, i := range all {
			switch {
			case i.Certainty != all[0].Certainty, i.Kind != all[0].Kind, x != i.Local.Addr && x != i.Peer.Addr, x == i.Local.Addr && len(i.Also) > 0:
				others = nil
			case others != nil || i == all[0]:
				for _, a := range append([]packet.Addr{i.Local.Addr, i.Peer.Addr}, i.Also...) {
					if a != x && !slices.Contains(others, a) {
						others = append(others, a)
					}
				}
			}
		}
		if len(others) > 1 {
			return x, others
		}
	}
	return x, nil
}

// overlap reports whether incidents have at least half of the longest of them in common.
func overlap(all []*Incident) bool {
	begin, end, longest := all[0].Begin, all[0].End, time.Duration(0)
	for _, i := range all {
		begin, end, longest = max(begin, i.Begin), min(end, i.End), max(longest, i.Lost)
	}
	return 2*(end-begin) >= int64(longest)
}

// busyTimes is how many packets a connection would have carried, while others of a host made no progress, of which it is told that it went on.
const busyTimes = 10

// wentOn reports whether a host may have gone on with another than those with which it made no progress: a connection was busy before or after, and was not interrupted.
func (t *teller) wentOn(x packet.Addr, others []packet.Addr, all []*Incident) bool {
	begin, end := all[0].Begin, all[0].End
	for _, i := range all {
		begin, end = max(begin, i.Begin), min(end, i.End)
	}
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		if far, ok := farEnd(c, x); !ok || slices.Contains(others, far) {
			continue
		}
		if busyIn(c, begin, end) && !heldUp(c, begin, end) {
			return true
		}
	}
	return false
}

// busyIn reports whether a connection was busy before or after a time, so that it may have been in it.
func busyIn(c *agent.Connection, begin, end int64) bool {
	first, last := c.First, max(c.Ends[0].Last, c.Ends[1].Last)
	packets, whole := int64(c.Ends[0].Packets+c.Ends[1].Packets), last-first
	if first < begin && last > end {
		whole -= end - begin
	}
	return first < end && last > begin && packets > 0 && whole*busyTimes/packets < end-begin
}

// farEnd is the other host of a connection of a host; false: it is none of that.
func farEnd(c *agent.Connection, x packet.Addr) (packet.Addr, bool) {
	if c.Ends[0].Addr == x {
		return c.Ends[1].Addr, true
	}
	return c.Ends[0].Addr, c.Ends[1].Addr == x
}

// heldUp reports whether a connection was interrupted at a time.
func heldUp(c *agent.Connection, begin, end int64) bool { return heldUpFor(c, begin, end) > 0 }

// heldUpFor is for how long of a time a connection was interrupted, in one piece.
func heldUpFor(c *agent.Connection, begin, end int64) (most int64) {
	for k := range c.Ends {
		e := &c.Ends[k]
		if e.Trouble == nil {
			continue
		}
		if e.Stalled {
			most = max(most, end-max(begin, e.Trouble.Now.Since))
		}
		settled := e.Trouble.Settled(e.Stalled)
		for j := range settled.Longest {
			if s := &settled.Longest[j]; interrupts(s) {
				most = max(most, min(end, max(s.Ended, s.Last))-max(begin, s.Since))
			}
		}
	}
	return most
}

// hub has the incident that lost the most time tell of all, which have host x in common.
func hub(x packet.Addr, others []packet.Addr, all []*Incident, merged map[*Incident]bool) {
	best := slices.MaxFunc(all, func(a, b *Incident) int { return cmp.Compare(a.Lost, b.Lost) })
	begin, connections := best.Begin, map[pair]int{}
	for _, i := range all {
		p := pairBy(i.Local.Addr, i.Peer.Addr)
		connections[p] = max(connections[p], i.Connections)
		begin = max(begin, i.Begin)
		if i != best {
			merged[i] = true
			best.Begin, best.End, best.Ongoing = min(best.Begin, i.Begin), max(best.End, i.End), best.Ongoing || i.Ongoing
			best.foundToo(i.Found)
		}
	}
	best.Connections = 0
	for _, n := range connections {
		best.Connections += n
	}
	slices.SortFunc(others, packet.Addr.Compare)
	said := best.What
	if len(best.Also) > 0 {
		_, said, _ = strings.Cut(said, ": ") // what peers has said of all who waited
	}
	var names []string
	best.Also = nil
	for _, a := range others {
		names = append(names, a.String())
		if a != best.Local.Addr && a != best.Peer.Addr {
			best.Also = append(best.Also, a)
		}
	}
	what, common := "Connections of %v with %d hosts made no progress at the same time: %s", thatStopped(x)+": it is what they have in common"
	if best.gone != goneFor {
		what, common = "%v lost %d hosts at the same time: %s", "the link or adapter of "+x.String()+", or a path that all of this takes: it is what they have in common"
		switch {
		case slices.ContainsFunc(all, func(i *Incident) bool { return i.Local.Addr != x }):
			what = "Connections of %v with %d hosts failed at the same time: %s"
		case best.gone == goneHere:
			what = "%v lost connections with %d hosts at the same time: %s"
		}
		if spread := begin - best.Begin; spread > 0 {
			what = strings.Replace(what, "at the same time", "within "+span(spread), 1)
		}
	}
	best.What = fmt.Sprintf(what, x, len(others), said)
	best.Facts = slices.DeleteFunc(best.Facts, func(f Fact) bool { return f.Label == "hosts" })
	best.fact("hosts", enumerate(names)+"; this is the one of them that took longest")
	best.FitsWith = slices.DeleteFunc(best.FitsWith, func(s string) bool { return s == common })
	best.FitsWith = slices.Insert(best.FitsWith, 0, common)
	best.Next = slices.DeleteFunc(best.Next, func(s string) bool { return s == othersToo || s == reached(best.Peer.Addr.String()) })
	if best.common = x; x == best.Peer.Addr {
		best.common = packet.Addr{}
	}
}
