package incident

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"ibwitness/packet"
	"ibwitness/timing"
)

const (
	spanFilled  = 0.8 // part of a burst of which windows tell, at least: else there are breaks in it
	spanPackets = 64  // packets of a burst on average, from which on the time from its first one to its last is that of all
	spansKnown  = 0.5 // part of the payload of a host that bursts whose times are known have, at least

	fewestOverlaps = 2 // times when bursts of hosts came at once, from which on it is told what came then in all
)

// burstSpan is a burst of a host, from its first packet to its last one.
type burstSpan struct {
	from, to int64
	bytes    uint64 // of the windows that tell of it
}

// spansOf are the bursts of a host whose first and last packets are known, as it sent none for 10 ms before and after: by its ends that send
// to the receiver. Between two times; nil: they are not known.
func (b *burstsTo) spansOf(ends []sendingEnd, from packet.Addr, since, until int64) (spans []burstSpan) {
	var a timing.Activity
	packets := uint64(0)
	for _, x := range ends {
		if x.c.Timing == nil || x.c.Ends[x.end].Addr != from {
			continue
		}
		m := &x.c.Timing.Ends[x.end]
		if m.Busy.Full {
			return nil
		}
		a.Join(&m.Active)
		packets += x.c.Ends[x.end].Packets
	}
	list, all, known := b.whole[from], uint64(0), uint64(0)
	for k := range list {
		all += uint64(list[k].Bytes)
	}
	if a.First == 0 || packets < spanPackets*uint64(len(a.Silences)+1) {
		return nil
	}
	for k := range len(a.Silences) + 1 {
		s := burstSpan{from: a.First, to: a.Last}
		if k > 0 {
			s.from = a.Silences[k-1].To
		}
		if k < len(a.Silences) {
			s.to = a.Silences[k].From
		}
		if s.to < since || s.from > until {
			continue
		}
		windows := int64(0)
		for ; len(list) > 0 && list[0].At <= s.to/timing.BusyWidth; list = list[1:] {
			if list[0].At >= s.from/timing.BusyWidth {
				windows, s.bytes = windows+1, s.bytes+uint64(list[0].Bytes)
			}
		}
		if s.bytes > 0 && s.to > s.from && float64(windows*timing.BusyWidth) >= spanFilled*float64(s.to-s.from) {
			spans, known = append(spans, s), known+s.bytes
		}
	}
	if float64(known) < spansKnown*float64(all) {
		return nil
	}
	return spans
}

// spanRate is how many bytes a second a host sent in its bursts, from the first packet of each to the last; 0: that is not known.
func (b *burstsTo) spanRate(from packet.Addr) float64 {
	bytes, ns := uint64(0), int64(0)
	for _, s := range b.spans[from] {
		bytes, ns = bytes+s.bytes, ns+s.to-s.from
	}
	if ns == 0 {
		return 0
	}
	return float64(bytes) * b.kept[from] / time.Duration(ns).Seconds()
}

// within is how many bytes a host sent between two times, as its windows tell: of one that lies there in part, as much of it.
func (b *burstsTo) within(from packet.Addr, burst burstSpan, since, until int64) (bytes float64) {
	for _, w := range b.whole[from] {
		begin, end := max(w.At*timing.BusyWidth, burst.from), min((w.At+1)*timing.BusyWidth, burst.to)
		if part := min(end, until) - max(begin, since); end > begin && part > 0 {
			bytes += float64(w.Bytes) * float64(part) / float64(end-begin)
		}
	}
	return bytes
}

// rates sets how many bytes a second senders sent in their bursts, and says of which times that is: without those that sent little, where their
// times are not known. Of one that few whole windows tell of, the rate is the least that it can be; where all are so, it says what came in all at most.
func (b *burstsTo) rates(list []sender) (how string) {
	known, all := uint64(0), uint64(0)
	for k := range list {
		from := list[k].from
		for _, w := range b.of[from] {
			if all += uint64(w.Bytes); b.spanRate(from) > 0 {
				known += uint64(w.Bytes)
			}
		}
	}
	if all > 0 && float64(known) >= mostlyKnown*float64(all) {
		for k := range list {
			list[k].rate = b.spanRate(list[k].from)
		}
		return "rates of payload from the first packet of each burst to the last" + b.together(list)
	}
	unknown := 0
	for k := range list {
		if list[k].rate, list[k].least = b.rate(list[k].from); list[k].least {
			unknown++
		}
	}
	peak, part := b.peak(), ""
	if unknown > 0 {
		part = ", of those that windows tell of"
	}
	switch {
	case unknown < len(list):
		return "rates of payload while each sent" + part
	case peak == 0:
		return ""
	}
	return fmt.Sprintf("up to %s of payload came in all, for %s", perSecondOf(peak), span(timing.BusyWidth))
}

// peak is how many bytes a second came in all in the window with most; 0: nothing came in the one before or after, so that idle time may be in it.
func (b *burstsTo) peak() float64 {
	most, inner, list := uint64(0), uint64(0), b.totals()
	for k := range list {
		most = max(most, list[k].bytes)
		if k > 0 && k+1 < len(list) && b.at[k+1]-b.at[k-1] == 2 {
			inner = max(inner, list[k].bytes)
		}
	}
	if inner < most {
		return 0
	}
	return perWindow(most, 1)
}

// together says how many bytes a second senders sent in all where bursts of two or more of them came at once, for half of the time at least, from the
// first packet of any of these to the last; "": seldom did they.
func (b *burstsTo) together(list []sender) string {
	type packets struct {
		burstSpan
		from packet.Addr
	}
	var all []packets
	for _, s := range list {
		for _, x := range b.spans[s.from] {
			all = append(all, packets{x, s.from})
		}
	}
	slices.SortFunc(all, func(x, y packets) int {
		return cmp.Or(cmp.Compare(x.burstSpan.from, y.burstSpan.from), x.from.Compare(y.from))
	})
	bytes, ns, n, tide := float64(0), int64(0), 0, ebb{}
	for len(all) > 0 {
		begin, until, latest, earliest, sum, of := all[0].burstSpan.from, all[0].to, int64(0), all[0].to, float64(0), 0
		for of < len(all) && all[of].burstSpan.from <= until {
			x := &all[of]
			latest, earliest = x.burstSpan.from, min(earliest, x.to)
			until, sum = max(until, x.to), sum+float64(x.bytes)*b.kept[x.from]
			of++
		}
		if of > 1 && 2*(earliest-latest) >= until-begin {
			bytes, ns, n = bytes+sum, ns+until-begin, n+1
			tide.add(b, begin, until)
		}
		all = all[of:]
	}
	if n < fewestOverlaps || ns == 0 {
		return ""
	}
	b.falls = tide.said(n)
	mean, up := bytes/time.Duration(ns).Seconds(), ""
	if peak := b.peak(); b.falls == "" && mean < asFast*peak {
		up = fmt.Sprintf(", and up to %s for %s,", perSecondOf(peak), span(timing.BusyWidth))
	}
	return fmt.Sprintf("; %s in all on average%s where bursts of several came at once (%s)", perSecondOf(mean), up, times(uint64(n)))
}

// ebb is what all senders sent in windows within bursts: most in one with marks, and most in the slowest one of each burst after that.
type ebb struct {
	bursts       int // in which that is known
	most, lowest uint64
}

// add takes a burst that lasts from one time to another.
func (x *ebb) add(b *burstsTo, from, until int64) {
	first, end := from/timing.BusyWidth+1, until/timing.BusyWidth
	if end-first < 2 {
		return
	}
	sums, marked, most := make([]uint64, end-first), make([]bool, end-first), 0
	for _, list := range b.whole {
		k := first
		for _, w := range list {
			for ; k < end && k < w.At; k++ {
				sums[k-first] += leftOut
			}
			if w.At >= first && w.At < end {
				sums[w.At-first] += uint64(w.Bytes)
				marked[w.At-first] = marked[w.At-first] || w.Marked > 0
				k = w.At + 1
			}
		}
		for ; k < end; k++ {
			sums[k-first] += leftOut
		}
	}
	for most < len(marked) && !marked[most] {
		most++
	}
	if most+1 >= len(sums) {
		return
	}
	x.bursts++
	x.most, x.lowest = max(x.most, sums[most]), max(x.lowest, slices.Min(sums[most+1:]))
}

// said says how what is sent in all falls after the first marks of each of some bursts; "": it hardly does, or that is not known of each.
func (x *ebb) said(bursts int) string {
	if x.bursts < bursts || 2*x.lowest > x.most {
		return ""
	}
	return fmt.Sprintf("up to %s came in all in the first whole %s with marks of one, and about %s or less in the slowest after it",
		perSecondOf(perWindow(x.most, 1)), span(timing.BusyWidth), perSecondOf(perWindow(x.lowest, 1)))
}
