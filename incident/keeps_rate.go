package incident

import (
	"fmt"
	"slices"
	"time"

	"ibwitness/timing"
)

// A sender whose bursts are over within a millisecond may send at its full rate to the end of each, though CNPs come to it, while others, to
// which no more come, slow down meanwhile, and send a small part of what they did even once its burst is over.

const (
	cnpsInBurst = 4                    // that come to such a sender in a burst, at least
	settledFor  = 4 * timing.BusyWidth // after the end of a burst in which others send as little: a millisecond
)

// keptRate is such a sender.
type keptRate struct {
	sender
	bursts      int
	least, most int64   // how long they were
	later       float64 // what it sent in the second half of one, for each byte of the first half, at least
	others      []slowedRate
}

// slowedRate is what another sent in the first half of those bursts and after them, in bytes a second.
type slowedRate struct {
	sender
	before, after float64
}

// keepsRate tells first which of several senders did not slow down within its bursts though CNPs came to it, while others did; false: none.
func (t *teller) keepsRate(i *Incident, list []sender, b *burstsTo) bool {
	for _, s := range list {
		k, ok := b.keepsRate(s, list)
		g := unreactive{sender: s}
		for _, o := range k.others {
			g.others = append(g.others, o.sender)
		}
		if ok && !t.spreads(&g) {
			t.tellKeptRate(i, &k, b)
			return true
		}
	}
	return false
}

// tellKeptRate tells of it.
func (t *teller) tellKeptRate(i *Incident, k *keptRate, b *burstsTo) {
	var fell []string
	least, most := k.others[0].notified.n, uint64(0)
	for _, o := range k.others {
		least, most = min(least, o.notified.n), max(most, o.notified.n)
		fell = append(fell, fmt.Sprintf("%v fell from %s to %s", o.from, perSecondOf(o.before), perSecondOf(o.after)))
	}
	if more := len(fell) - portsShown; more > 0 {
		fell = append(fell[:portsShown], number(uint64(more))+" more did likewise")
	}
	slower := "no slower"
	if k.later < asFast {
		slower = "hardly slower"
	}
	malformed := " were"
	if t.malformedCNPs(i.Peer.Addr) != "" {
		malformed = ", each of which breaks rule CNG-CNP-003, were dropped there or"
	}
	i.What = fmt.Sprintf("%v did not slow down after %s (the first: frame %d): it sent at %s in %s of %s, %s in the second half of each, while %s; "+
		"so its reaction point (congestion control) is off or set otherwise, or its CNPs%s lost after the tap. %s",
		k.from, t.atLeast(k.notified.n, "CNP"), k.notified.first.frame, perSecondOf(b.spanRate(k.from)), count(uint64(k.bursts), "burst"),
		between(span(k.least), span(k.most)), slower, enumerate(fell), malformed, i.What)
	i.fact("reaction", fmt.Sprintf("none of %v that its rate shows: %s came to it, and %s to each of the others, which slowed down while it sent; "+
		"their rates are of the first half of its bursts, and of the %s after them, in which they sent on",
		k.from, count(k.notified.n, "CNP"), between(number(least), number(most)), span(settledFor)))
	i.setOtherwise(k.from, k.others[0].from.String())
	t.mayDropCNPs(i, k.from)
}

// keepsRate is what a sender did in its bursts, and others at the same times; false: it slowed down, or they did not, or that is not known.
func (b *burstsTo) keepsRate(s sender, list []sender) (k keptRate, ok bool) {
	k.sender = s
	spans := slices.DeleteFunc(slices.Clone(b.spans[s.from]), func(x burstSpan) bool { return x.to-x.from < slowedSoon*timing.BusyWidth })
	if k.bursts = len(spans); k.bursts < 2 || 2*k.bursts < len(b.spans[s.from]) || s.notified.n < max(tellingCNPs, uint64(cnpsInBurst*k.bursts)) {
		return k, false
	}
	for _, x := range spans {
		if k.least == 0 || x.to-x.from < k.least {
			k.least = x.to - x.from
		}
		k.most = max(k.most, x.to-x.from)
		middle := (x.from + x.to) / 2
		if later := b.within(s.from, x, middle, x.to) / b.within(s.from, x, x.from, middle); later < k.later || k.later == 0 {
			k.later = later
		}
	}
	if k.later < steady {
		return k, false
	}
	for _, o := range list {
		if o.from == s.from || o.notified.n < tellingCNPs {
			continue
		}
		if mostlyCNPs*s.notified.n < o.notified.n || b.marked(s.from) < moreMarks*b.marked(o.from) {
			return k, false
		}
		x, known := b.slowsIn(spans, o)
		if !known || greedyTimes*x.after > b.spanRate(s.from) {
			return k, false
		}
		k.others = append(k.others, x)
	}
	return k, len(k.others) >= 2
}

// slowsIn is what another sender sent in the first half of some bursts, and after them; false: it slowed down less, or later, or had nothing more
// to send after most of them.
func (b *burstsTo) slowsIn(bursts []burstSpan, o sender) (r slowedRate, ok bool) {
	r.sender = o
	n, length, second := 0, int64(0), float64(0)
	for _, x := range bursts {
		at := slices.IndexFunc(b.spans[o.from], func(y burstSpan) bool { return y.from < x.to && y.to >= x.to+settledFor })
		if at < 0 || b.spans[o.from][at].from > (3*x.from+x.to)/4 {
			continue
		}
		y, middle := b.spans[o.from][at], (x.from+x.to)/2
		n, length = n+1, length+middle-x.from
		r.before += b.within(o.from, y, x.from, middle)
		second += b.within(o.from, y, middle, x.to)
		r.after += b.within(o.from, y, x.to, x.to+settledFor)
	}
	if float64(n) < steady*float64(len(bursts)) || second > fallen*r.before {
		return r, false
	}
	r.before = r.before / time.Duration(length).Seconds()
	r.after /= time.Duration(settledFor * int64(n)).Seconds()
	return r, collapsed*r.after <= r.before
}
