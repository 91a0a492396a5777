package incident

import (
	"fmt"
	"slices"

	"ibwitness/packet"
	"ibwitness/timing"
)

const (
	inMidst     = 16     // windows in which one that slows down far may send less than is kept: 4 milliseconds
	toSlowDown  = 4      // windows of a burst in which a sender may slow down, and the queue before the tap drain: a millisecond
	slowedSoon  = 2      // and where its bursts end before that: the others, whose packets were in the same queue, have slowed down by then
	mostlyCNPs  = 2      // to which part of the CNPs of each other, one in so many, a sender has to get at least
	mostlyMarks = 2. / 3 // part of the packets of a sender that are marked, at least
	moreMarks   = 1.5    // times the part of those of each other, at least
)

// unreactive is a sender that, in bursts, goes on at several times the rate of others, while CNPs come to all of them.
type unreactive struct {
	sender
	bursts          int
	settled         string  // from when on in each burst
	rate            float64 // bytes a second, from then on
	marked          float64 // part of its packets
	others          []sender
	slowest, faster float64    // bytes a second that others sent then
	marks           [2]float64 // least and most part of their packets that was marked
}

// keepsOn tells first which of several senders seems not to slow down in bursts though CNPs come to it, while others do; false: none.
func (t *teller) keepsOn(i *Incident, list []sender, b *burstsTo) bool {
	for _, s := range list {
		g, ok := b.keepsOn(s, list)
		if !ok || t.spreads(&g) {
			continue
		}
		var names []packet.Addr
		least, most := g.others[0].notified.n, uint64(0)
		for _, o := range g.others {
			names = append(names, o.from)
			least, most = min(least, o.notified.n), max(most, o.notified.n)
		}
		i.What = fmt.Sprintf("%v seems not to slow down though CNPs come to it: in bursts it goes on at %s, and %s at %s. %s", g.from, perSecondOf(g.rate), count(uint64(len(names)), "other"), between(perSecondOf(g.slowest), perSecondOf(g.faster)), i.What)
		i.fact("reaction", fmt.Sprintf("none of %v that its rate shows, beside %s: in %s, from %s after the beginning of each on; %.0f %% of its packets are marked, and %s of those of the others, though %s came to it, and %s to each of them",
			g.from, someOf(names), count(uint64(g.bursts), "burst"), g.settled, 100*g.marked, between(fmt.Sprintf("%.0f %%", 100*g.marks[0]), fmt.Sprintf("%.0f %%", 100*g.marks[1])), count(g.notified.n, "CNP"), between(number(least), number(most))))
		i.setOtherwise(g.from, names[0].String())
		return true
	}
	return false
}

// spreads reports whether CNPs came to more queue pairs of a sender than to those of each other: each of them got fewer.
func (t *teller) spreads(g *unreactive) bool {
	pairs := func(s sender) (n int) { // that got a good part of them
		for c, from := range t.notified(s.way) {
			if sharesOf*c.Ends[from].Trouble.Notified.Count >= s.notified.n {
				n++
			}
		}
		return n
	}
	own := pairs(g.sender)
	return slices.ContainsFunc(g.others, func(o sender) bool { return pairs(o) < own })
}

// between writes a range.
func between(least, most string) string {
	if least == most {
		return least
	}
	return least + " to " + most
}

// keepsOn is what a sender did in its bursts, and others at the same times; false: it slowed down, or they did not, or that is not known.
func (b *burstsTo) keepsOn(s sender, list []sender) (g unreactive, ok bool) {
	g.sender, g.marked = s, b.marked(s.from)
	if s.notified.n < tellingCNPs || g.marked < mostlyMarks {
		return g, false
	}
	g.settled = "1ms"
	settled, halves := b.settled(s.from)
	var early []timing.Window
	if len(settled) < fewestWindows {
		g.settled = span(slowedSoon * timing.BusyWidth)
		early, settled, halves = b.settledSoon(s.from)
	}
	if g.bursts = len(halves); len(settled) < fewestWindows || g.bursts < 2 || !steadyIn(halves) {
		return g, false
	}
	sum := uint64(0)
	for _, w := range settled {
		sum += uint64(w.Bytes)
	}
	g.rate = perWindow(sum, len(settled))
	for _, o := range list {
		if o.from == s.from || o.notified.n < tellingCNPs {
			continue
		}
		if mostlyCNPs*s.notified.n < o.notified.n {
			return g, false
		}
		its, bytes, n := b.beside(settled, o.from)
		if n < fewestWindows {
			continue
		}
		if _, before, all := b.beside(early, o.from); early != nil && perWindow(bytes, n) > fallen*perWindow(before, all) {
			return g, false
		}
		marks, r := b.marked(o.from), perWindow(bytes, n)
		if its < greedyTimes*bytes || g.marked < moreMarks*marks {
			return g, false
		}
		if g.others = append(g.others, o); len(g.others) == 1 {
			g.slowest, g.faster, g.marks = r, r, [2]float64{marks, marks}
		}
		g.slowest, g.faster, g.marks = min(g.slowest, r), max(g.faster, r), [2]float64{min(g.marks[0], marks), max(g.marks[1], marks)}
	}
	return g, len(g.others) >= 2
}

// beside adds up what was sent in some windows, and what another host sent in those of them in the midst of what it sent: before and after each within a few milliseconds.
func (b *burstsTo) beside(windows []timing.Window, from packet.Addr) (its, bytes uint64, n int) {
	list, k := b.of[from], 0
	for _, w := range windows {
		for k < len(list) && list[k].At < w.At {
			k++
		}
		if k == 0 || k == len(list) || w.At-list[k-1].At > inMidst || list[k].At-w.At > inMidst {
			continue
		}
		if its, n = its+uint64(w.Bytes), n+1; list[k].At == w.At {
			bytes += uint64(list[k].Bytes)
		}
	}
	return its, bytes, n
}

// marked is which part of the packets of a host are marked.
func (b *burstsTo) marked(from packet.Addr) float64 {
	n, marked := 0, 0
	for _, w := range b.of[from] {
		n, marked = n+int(w.Packets), marked+int(w.Marked)
	}
	return float64(marked) / float64(max(n, 1))
}

// eachBurst calls a function with the windows of each burst of a host.
func (b *burstsTo) eachBurst(from packet.Addr, do func(burst []timing.Window)) {
	list := b.of[from]
	for begin := 0; begin < len(list); {
		end := begin + 1
		for end < len(list) && list[end].At-list[end-1].At <= windowsApart {
			end++
		}
		do(list[begin:end])
		begin = end
	}
}

// after returns the windows of a burst from so many after its beginning on.
func after(burst []timing.Window, windows int64) []timing.Window {
	first := 0
	for first < len(burst) && burst[first].At < burst[0].At+windows {
		first++
	}
	return burst[first:]
}

// settled returns the windows of the bursts of a host in which it has had the time to slow down, without the last of each, and what it sent in the first half of those of each burst and in the second.
func (b *burstsTo) settled(from packet.Addr) (windows []timing.Window, halves [][2]uint64) {
	b.eachBurst(from, func(burst []timing.Window) {
		if burst = after(burst, toSlowDown); len(burst) < 3 {
			return
		}
		burst = burst[:len(burst)-1]
		windows = append(windows, burst...)
		var half [2]uint64
		for k := range len(burst) / 2 {
			half[0] += uint64(burst[k].Bytes)
			half[1] += uint64(burst[len(burst)-1-k].Bytes)
		}
		halves = append(halves, half)
	})
	return windows, halves
}

// settledSoon is settled for short bursts, with the last window of each, and the most that was sent in a window of those before and of these; early are the last ones before.
func (b *burstsTo) settledSoon(from packet.Addr) (early, windows []timing.Window, compared [][2]uint64) {
	b.eachBurst(from, func(burst []timing.Window) {
		later := after(burst, slowedSoon)
		if len(later) == 0 {
			return
		}
		before := burst[:len(burst)-len(later)]
		early, windows = append(early, before[len(before)-1]), append(windows, later...)
		compared = append(compared, [2]uint64{fullest(before), fullest(later)})
	})
	return early, windows, compared
}

// fullest is what was sent in that of some windows in which most was.
func fullest(windows []timing.Window) (bytes uint64) {
	for _, w := range windows {
		bytes = max(bytes, uint64(w.Bytes))
	}
	return bytes
}

// steadyIn reports whether a host sent in the second halves of most bursts hardly less than in the first.
func steadyIn(halves [][2]uint64) bool {
	n := 0
	for _, h := range halves {
		if float64(h[1]) >= steady*float64(h[0]) {
			n++
		}
	}
	return float64(n) >= steady*float64(len(halves))
}
