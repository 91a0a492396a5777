package incident

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ibwitness/agent"
	"ibwitness/packet"
)

// What PSN sequence NAKs ask for was lost after the tap that showed it last. What one tap shows, the next one lacks, and nobody asks for, its capture has lost.

// betweenLeast is how many packets are missing at least that are told to be lost between taps, and strayShare of how many one, at most, may be shown by a later tap first.
const (
	betweenLeast = 3
	strayShare   = 100
)

// gap is what was lost between two taps, of the packets from some hosts to others.
type gap struct {
	from, to uint16
	sent     uint64 // packets that the first of the two shows
	missing  uint64 // of them, those that the second lacks
	dscp     []uint8
}

// betweenTaps has incidents of losses say between which taps packets were lost.
func (t *teller) betweenTaps(list []Incident) {
	if len(t.run.TapCounts) == 0 {
		return
	}
	for n := range list {
		i := &list[n]
		if !i.losses() {
			continue
		}
		ways := i.lossyWays()
		if len(ways) == 0 {
			continue
		}
		asked, all := t.askedAt(ways)
		g, ok := t.gapOf(ways)
		last, reached := t.lastTap(ways)
		switch {
		case all < betweenLeast:
		case ok && nineOfTen(asked[g.from], all):
			t.tellGap(i, g, ways)
		case reached && nineOfTen(asked[last], all):
			i.lostAfter(t.interfaceOf(last), asked[last], all, ways)
			if ok {
				i.fact("mirror", fmt.Sprintf("%s of the %s that %s shows are missing at %s, and no NAK asked for what is missing there: most likely that capture lost them, not the network",
					number(g.missing), count(g.sent, "packet"), t.interfaceOf(g.from), t.interfaceOf(g.to)))
			}
		}
	}
}

// nineOfTen reports whether a part of some is nine of ten or more.
func nineOfTen(part, all uint64) bool { return 10*part >= 9*all }

// askedAt counts the PSN sequence NAKs for packets on some ways by the tap that had shown these last.
func (t *teller) askedAt(ways []way) (at [len(agent.TapCount{}.Asked)]uint64, all uint64) {
	for k := range t.run.TapCounts {
		if c := &t.run.TapCounts[k]; slices.Contains(ways, way{c.Src, c.Dst}) {
			for tap, n := range c.Asked {
				at[tap], all = at[tap]+n, all+n
			}
		}
	}
	return at, all
}

// lastTap is the last tap that packets on some ways pass, where it is the same of all, and some pass another before it.
func (t *teller) lastTap(ways []way) (last uint16, known bool) {
	several := false
	for k := range t.run.TapCounts {
		c := &t.run.TapCounts[k]
		if !slices.Contains(ways, way{c.Src, c.Dst}) {
			continue
		}
		taps := chain(c)
		if len(taps) == 0 || known && taps[len(taps)-1] != last {
			return 0, false
		}
		last, known, several = taps[len(taps)-1], true, several || len(taps) > 1
	}
	return last, known && several
}

// lostAfter has an incident of losses tell that what NAKs asked for had passed the last tap.
func (i *Incident) lostAfter(tap string, asked, all uint64, ways []way) {
	to := ways[0].to
	where := fmt.Sprintf("the link to %v, its adapter (receive buffers), or the host itself (PCIe back-pressure)", to)
	next := fmt.Sprintf("rx_discards_phy, rx_out_of_buffer and outbound_pci_stalled_wr of %v (ethtool -S), and errors of its link", to)
	if slices.ContainsFunc(ways, func(w way) bool { return w.to != to }) {
		where, next = "the links to their receivers, the adapters or the hosts", "discards and errors of what is after "+tap
	}
	i.place(" after " + tap + ", the last tap on their way")
	i.Facts = slices.Insert(i.Facts, 0, Fact{"passed", fmt.Sprintf("%s of %s asked for what %s had shown before", number(asked), count(all, "PSN sequence NAK"), tap)})
	i.noOvertaking()
	i.FitsWith = slices.DeleteFunc(i.FitsWith, func(s string) bool { return s == badCable || s == queueDrops })
	for k, s := range i.FitsWith {
		if strings.HasPrefix(s, "incast: a queue to") {
			i.FitsWith[k] = s + ", if " + tap + " is before that queue"
		}
	}
	i.FitsWith = slices.Insert(i.FitsWith, 0, "what is after "+tap+": "+where)
	i.Next = slices.Insert(i.Next, 0, next)
}

// place has an incident of losses say where, in place of on which side of the tap.
func (i *Incident) place(where string) {
	if s := i.sum; s != nil {
		i.What = strings.Replace(i.What, "were lost"+s.where(), "were lost"+where, 1)
	} else {
		i.What = strings.TrimSuffix(strings.TrimSuffix(i.What, lostOrLate+"."), ".") + ": packets were lost" + where + "."
	}
	i.Facts = slices.DeleteFunc(i.Facts, func(f Fact) bool { return f.Label == "where" || f.Label == "missing" })
}

// lossyWays are the directions in which an incident of losses has packets be lost.
func (i *Incident) lossyWays() (ways []way) {
	s := i.sum
	switch {
	case s == nil && len(i.Also) == 0 && !i.ofAnswers:
		return []way{{i.Local.Addr, i.Peer.Addr}}
	case s == nil || s.both:
		return nil
	}
	for _, a := range s.others {
		switch {
		case len(s.senders) > 0:
			for _, from := range s.senders {
				ways = append(ways, way{from, a})
			}
		case s.to:
			ways = append(ways, way{a, s.host})
		default:
			ways = append(ways, way{s.host, a})
		}
	}
	return ways
}

// chain lists the taps that show packets of a count, in the order in which these pass them; nil: that is not known.
func chain(c *agent.TapCount) (taps []uint16) {
	for k, n := range c.Packets {
		if n > 0 {
			taps = append(taps, uint16(k))
		}
	}
	slices.SortStableFunc(taps, func(a, b uint16) int {
		return cmp.Or(cmp.Compare(c.First[b], c.First[a]), cmp.Compare(c.Packets[b], c.Packets[a]))
	})
	for k, tap := range taps {
		if all, first := c.Packets[tap], c.First[tap]; k == 0 && first < all || k > 0 && strayShare*first > all {
			return nil // it shows what those before it have missed
		}
	}
	return taps
}

// gapOf finds the two taps between which packets on some ways were lost, where it is the same two for all, and as many were retransmitted.
func (t *teller) gapOf(ways []way) (g gap, ok bool) {
	retransmitted := uint64(0)
	for n := range t.run.Connections {
		for from := range t.run.Connections[n].Ends {
			e, peer := &t.run.Connections[n].Ends[from], &t.run.Connections[n].Ends[1-from]
			if slices.Contains(ways, way{e.Addr, peer.Addr}) {
				retransmitted += uint64(e.Retransmissions)
			}
		}
	}
	for k := range t.run.TapCounts {
		c := &t.run.TapCounts[k]
		if !slices.Contains(ways, way{c.Src, c.Dst}) {
			continue
		}
		taps := chain(c)
		for k := range max(len(taps), 1) - 1 {
			from, to := taps[k], taps[k+1]
			missing := c.Packets[from] - c.Packets[to]
			switch {
			case missing < betweenLeast:
				continue
			case ok && (from != g.from || to != g.to):
				return g, false
			}
			g.from, g.to, ok = from, to, true
			g.sent, g.missing = g.sent+c.Packets[from], g.missing+missing
			if !slices.Contains(g.dscp, c.DSCP) {
				g.dscp = append(g.dscp, c.DSCP)
			}
		}
	}
	return g, ok && g.missing <= retransmitted && t.run.Taps[g.to].Dropped == 0
}

// passedBoth counts what passed the two taps of a gap beside it, of other hosts or with another DSCP, and lacked nothing; lacking: some of it lacks something, too.
func (t *teller) passedBoth(g *gap, ways []way) (packets uint64, hosts []packet.Addr, dscp []uint8, lacking bool) {
	for k := range t.run.TapCounts {
		c := &t.run.TapCounts[k]
		taps := chain(c)
		at := slices.Index(taps, g.from)
		if at < 0 || at+1 == len(taps) || taps[at+1] != g.to || slices.Contains(ways, way{c.Src, c.Dst}) && slices.Contains(g.dscp, c.DSCP) {
			continue
		}
		if c.Packets[g.from]-c.Packets[g.to] >= betweenLeast {
			lacking = true
			continue
		}
		packets += c.Packets[g.from]
		if !slices.Contains(hosts, c.Src) {
			hosts = append(hosts, c.Src)
		}
		if !slices.Contains(dscp, c.DSCP) {
			dscp = append(dscp, c.DSCP)
		}
	}
	slices.Sort(dscp)
	return packets, hosts, dscp, lacking
}

// tellGap has an incident of losses tell between which taps, of which class, and what passed the same taps.
func (t *teller) tellGap(i *Incident, g gap, ways []way) {
	first, second := t.interfaceOf(g.from), t.interfaceOf(g.to)
	i.place(fmt.Sprintf(" between %s and %s", first, second))
	said := fmt.Sprintf("%s of the %s that %s shows are missing at %s (%s)", number(g.missing), count(g.sent, "packet"), first, second, share(g.missing, g.sent))
	packets, hosts, dscp, lacking := t.passedBoth(&g, ways)
	if packets > 0 {
		said += fmt.Sprintf("; of %s from %s, which pass the same two, none", number(packets), someOf(hosts))
	}
	i.Facts = slices.Insert(i.Facts, 0, Fact{"between", said})
	class := len(g.dscp) == 1 && packets > 0 && !lacking && !slices.Contains(dscp, g.dscp[0])
	i.noOvertaking()
	i.FitsWith = slices.DeleteFunc(i.FitsWith, func(s string) bool { return s == badCable || s == queueDrops })
	i.Next = slices.DeleteFunc(i.Next, func(s string) bool { return s == portDiscards || s == flowControl })
	if !class {
		i.FitsWith = slices.Insert(i.FitsWith, 0, "what is between these taps: a switch, its queue towards the second one, or a link")
		i.Next = slices.Insert(i.Next, 0, "discards and errors of the ports between these taps, the one at "+second+" first")
		return
	}
	i.Facts = slices.Insert(i.Facts, 1, Fact{"class", fmt.Sprintf("all that is missing has DSCP %d; what passed has DSCP %s", g.dscp[0], numbers(dscp))})
	i.FitsWith = slices.Insert(i.FitsWith, 0, fmt.Sprintf("a queue of a switch between these taps, that of DSCP %d towards the second one, that is full and drops", g.dscp[0]))
	i.Next = slices.Insert(i.Next, 0, fmt.Sprintf("discards of the queue to which DSCP %d maps, of the port at %s", g.dscp[0], second),
		fmt.Sprintf("whether what has DSCP %d is to have that of the others (%s): its traffic class (NCCL_IB_TC, UCX_IB_TRAFFIC_CLASS, cma_roce_tos)", g.dscp[0], numbers(dscp)))
}

// numbers writes DSCPs.
func numbers(dscp []uint8) string {
	words := make([]string, len(dscp))
	for k, d := range dscp {
		words[k] = fmt.Sprint(d)
	}
	return enumerate(words)
}
