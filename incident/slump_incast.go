package incident

import (
	"fmt"
	"slices"
	"strings"

	"ibwitness/packet"
	"ibwitness/timing"
)

// slumpsBeside says in which bursts senders slow down far, and how fast the others went that were over sooner; "": there are none of these.
func (t *teller) slumpsBeside(all, deep []slump) (which, others string) {
	var rates []float64
	took := int64(0)
	for _, s := range all {
		if s.lowAt == 0 {
			rates, took = append(rates, s.mean), max(took, s.took)
		}
	}
	if len(rates) == 0 {
		return "", ""
	}
	which = fmt.Sprintf("in %d of %d bursts ", len(deep), len(all))
	if len(deep) == 1 {
		which = fmt.Sprintf("in 1 of %d bursts (%s) ", len(all), t.offset(deep[0].from))
	}
	slices.Sort(rates)
	n, were := number(uint64(len(rates))), "were"
	switch {
	case len(rates) == 1 && len(deep)+1 == len(all):
		n, were = "the other", "was"
	case len(rates) == 1:
		were = "was"
	case len(rates)+len(deep) == len(all):
		n = "the " + n + " others"
	}
	at := between(perSecondOf(rates[0]), perSecondOf(rates[len(rates)-1]))
	return which, fmt.Sprintf("; %s %s over within %s, at %s on average", n, were, span(took), at)
}

// incast tells first of hosts that begin to send at once in most bursts that are marked, as few of which show that they slow down too far.
func (x *slumping) incast(i *Incident, all []slump) {
	together, least, most, within := 0, 0, 0, int64(0)
	for _, s := range all {
		hosts, spread := x.beginAtOnce(s.from)
		if hosts >= fewestTogether {
			if together++; together == 1 || hosts < least {
				least = hosts
			}
			most, within = max(most, hosts), max(within, spread)
		}
	}
	if 2*together <= len(all) {
		return
	}
	bursts := fmt.Sprintf("each of the %d bursts", len(all))
	if together < len(all) {
		bursts = fmt.Sprintf("%d of the %d bursts", together, len(all))
	}
	said := fmt.Sprintf("%s hosts began to send within %s of one another in %s in which packets were marked",
		upTo(least, most), span(max(within, 1000)), bursts)
	if n := x.unmarkedOfOne(all); n > 0 {
		said += fmt.Sprintf("; none was in %s of one of them by itself, of about as much", count(uint64(n), "burst"))
	}
	i.fact("incast", said)
	at := slices.IndexFunc(i.FitsWith, func(s string) bool { return strings.HasSuffix(s, "(incast)") })
	if at >= 0 {
		i.FitsWith = slices.Delete(i.FitsWith, at, at+1)
	}
	fits := fmt.Sprintf("incast: %d hosts that begin at once to send more to %v than its link has room for", most, i.Peer.Addr)
	i.FitsWith = slices.Insert(i.FitsWith, 0, fits)
	i.Next = slices.Insert(i.Next, 0, "whether fewer hosts can send at once, or one after the other")
}

// beginAtOnce is how many hosts begin to send within a millisecond from a time on, and within which time they do.
func (x *slumping) beginAtOnce(from int64) (hosts int, spread int64) {
	for _, a := range x.hosts {
		at := slices.IndexFunc(x.messages[a], func(m [2]int64) bool { return m[0] >= from })
		if at < 0 || x.messages[a][at][0]-from >= windowsApart*timing.BusyWidth {
			continue
		}
		hosts, spread = hosts+1, max(spread, x.messages[a][at][0]-from)
	}
	return hosts, spread
}

// unmarkedOfOne is in how many bursts only one host sends, half as much or more as in a marked one, and nothing is marked; 0: something is in one of
// them.
func (x *slumping) unmarkedOfOne(all []slump) (n int) {
	for _, b := range x.bursts() {
		first, last := b[0]/timing.BusyWidth, b[1]/timing.BusyWidth
		var of []packet.Addr
		for _, a := range x.hosts {
			if slices.ContainsFunc(x.messages[a], func(m [2]int64) bool { return m[0] <= b[1] && m[1] >= b[0] }) {
				of = append(of, a)
			}
		}
		if len(of) != 1 {
			continue
		}
		marked := false
		for k := first; k <= last; k++ {
			marked = marked || x.marked[k]
		}
		least := uint64(0)
		for _, s := range all {
			if sent := x.sentBy(of[0], s.from, s.to); sent > 0 && (least == 0 || sent < least) {
				least = sent
			}
		}
		switch enough := least > 0 && 2*x.sentBy(of[0], b[0], b[1]) >= least; {
		case enough && marked:
			return 0
		case enough:
			n++
		}
	}
	return n
}

// sentBy is how many bytes a host sent in the windows of a time.
func (x *slumping) sentBy(from packet.Addr, since, until int64) (bytes uint64) {
	for k := since / timing.BusyWidth; k <= until/timing.BusyWidth; k++ {
		bytes += x.of[from][k]
	}
	return bytes
}
