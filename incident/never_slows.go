package incident

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"ibwitness/packet"
	"ibwitness/timing"
)

// Where a deep queue lies before the tap, a sender that slows down at CNPs shows it late: some of its bursts are over before that. One that never
// shows it in many bursts, while others that begin with it and send as much show it in most of theirs, is likely one that does not slow down.

const (
	slowWindows   = 2                                  // in a row in which a sender that has slowed down sends one part in collapsed of its most, at least
	burstsApart   = int64(10 * time.Millisecond)       // from the end of a burst to the begin of the next, at least
	nearlyAll     = 10                                 // of its bursts, all but one in so many, a sender slows down in that is compared without a second one
	tellingLength = 2 * slowWindows * timing.BusyWidth // of a burst, at least, that can show it
	seldomEnough  = 0.01                               // how likely it is at most that a sender like the others shows it in no burst
)

// slowedIn is in how many of its bursts a sender slowed down.
type slowedIn struct {
	sender
	bursts, slowed int
	most           int64   // how long those were in which it did not, at most, by whole windows
	bytes          float64 // what it sent in one in which it did not, at least
	soon           float64 // what it had sent in one when it slowed down, at most
	before, after  float64 // in a second, until it had slowed down and from then on, in these
}

// windowBursts are the bursts of a host by its windows, each from the first of these to the end of the last: a small packet may follow much later.
func (b *burstsTo) windowBursts(from packet.Addr) (list []burstSpan) {
	for _, w := range b.whole[from] {
		begin, end := w.At*timing.BusyWidth, (w.At+1)*timing.BusyWidth
		if n := len(list) - 1; n >= 0 && begin-list[n].to < burstsApart {
			list[n].to, list[n].bytes = end, list[n].bytes+uint64(w.Bytes)
		} else {
			list = append(list, burstSpan{begin, end, uint64(w.Bytes)})
		}
	}
	return list
}

// slowsFrom is when a host slowed down in a burst, to one part in collapsed of what it had sent before in as long a time; 0: it did not.
func (b *burstsTo) slowsFrom(o sender, x burstSpan) int64 {
	most := float64(0)
	for k := x.from/timing.BusyWidth + 1; (k+slowWindows)*timing.BusyWidth <= x.to; k++ {
		from := k * timing.BusyWidth
		if s := b.within(o.from, x, from, from+slowWindows*timing.BusyWidth); collapsed*s <= most {
			return from
		} else if s > most {
			most = s
		}
	}
	return 0
}

// slowedIn is in how many of its bursts a sender slowed down; of others, only those bursts count that began with one of some; nil: all.
func (b *burstsTo) slowedIn(s sender, with []burstSpan) (r slowedIn) {
	r.sender = s
	length := [2]int64{}
	for _, x := range b.windowBursts(s.from) {
		beside := func(y burstSpan) bool { return max(x.from-y.from, y.from-x.from) <= timing.BusyWidth }
		if with != nil && !slices.ContainsFunc(with, beside) {
			continue
		}
		r.bursts++
		at := b.slowsFrom(s, x)
		if at == 0 {
			if sent := b.within(s.from, x, x.from, x.to); r.bytes == 0 || sent < r.bytes {
				r.bytes = sent
			}
			r.most = max(r.most, x.to-x.from)
			continue
		}
		sent := b.within(s.from, x, x.from, at)
		r.slowed, r.soon = r.slowed+1, max(r.soon, sent)
		r.before, length[0] = r.before+sent, length[0]+at-x.from
		r.after, length[1] = r.after+b.within(s.from, x, at, x.to), length[1]+x.to-at
	}
	if r.slowed > 0 {
		r.before, r.after = r.before/time.Duration(length[0]).Seconds(), r.after/time.Duration(length[1]).Seconds()
	}
	return r
}

// said says in how many bursts a sender slowed down, and how far.
func (r *slowedIn) said() string {
	cnps := count(r.notified.n, "CNP")
	if r.slowed == 0 {
		return fmt.Sprintf("%v in none of %d (each over within %s; %s)", r.from, r.bursts, span(r.most), cnps)
	}
	return fmt.Sprintf("%v in %d of %d (from %s to %s; %s)", r.from, r.slowed, r.bursts, perSecondOf(r.before), perSecondOf(r.after), cnps)
}

// neverSlows says which of several senders slowed down in their bursts and which did not, and tells first of one that likely does not react. It
// reports whether there is one.
func (t *teller) neverSlows(i *Incident, list []sender, b *burstsTo) bool {
	var all, never []slowedIn
	for _, s := range list {
		if r := b.slowedIn(s, nil); s.notified.n >= tellingCNPs && r.bursts > 0 {
			if all = append(all, r); r.slowed == 0 && b.unlikeOthers(&r, list) {
				never = append(never, r)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b slowedIn) int { return cmp.Compare(b.slowed*a.bursts, a.slowed*b.bursts) })
	if len(all) < 2 || all[0].slowed < 2 || 2*all[0].slowed < all[0].bursts {
		return false
	}
	var said []string
	for k := range all[:min(len(all), portsShown)] {
		said = append(said, all[k].said())
	}
	if more := len(all) - portsShown; more > 0 {
		said = append(said, number(uint64(more))+" more")
	}
	if len(never) != 1 || t.spreads(&unreactive{sender: never[0].sender, others: allBut(list, never[0].sender)}) {
		late := ""
		if last := &all[len(all)-1]; 2*last.slowed < last.bursts {
			late = "; a burst that is over soon does not show it, as a queue before the tap delays it"
		}
		i.fact("slowed", enumerate(said)+late)
		return false
	}
	n := &never[0]
	i.fact("slowed", enumerate(said)+"; the bursts of the others that were over as soon do not show it either, as a queue before the tap delays it")
	slowed, of, others := b.othersSlowed(n, list)
	i.What = fmt.Sprintf("%v likely does not slow down though %s came to it: its rate fell in none of its %d bursts "+
		"(each over within %s), "+
		"those of %s that began with it, in %d of %d, before they had sent as much; "+
		"so its reaction point (congestion control) is off or set otherwise, or its CNPs were lost after the tap. %s",
		n.from, t.atLeast(n.notified.n, "CNP"), n.bursts, span(n.most), sorted(others), slowed, of, i.What)
	i.setOtherwise(n.from, all[0].from.String())
	t.mayDropCNPs(i, n.from)
	return true
}

// unlikeOthers reports whether a sender that slowed down in no burst would have, were it like others: CNPs came to it in each, others that began
// with it slowed down in most of theirs, and before they had sent as much.
func (b *burstsTo) unlikeOthers(r *slowedIn, list []sender) bool {
	if r.notified.n < uint64(cnpsInBurst*r.bursts) {
		return false
	}
	slowed, of, _ := b.othersSlowed(r, list)
	return 2*slowed > of && math.Pow(float64(of-slowed+1)/float64(of+1), float64(r.bursts)) <= seldomEnough
}

// othersSlowed is in how many of the bursts of others that began with one of a sender they slowed down; 0: one of them was marked far more, or
// only one of them tells, and not in nearly all.
func (b *burstsTo) othersSlowed(r *slowedIn, list []sender) (slowed, of int, others []packet.Addr) {
	for _, o := range list {
		if o.from == r.from || o.notified.n < tellingCNPs {
			continue
		}
		x := b.slowedIn(o, b.windowBursts(r.from))
		if x.bursts == 0 || x.slowed == 0 && x.most < tellingLength {
			continue
		}
		if mostlyCNPs*r.notified.n < o.notified.n || x.soon > r.bytes {
			return 0, 0, nil
		}
		others, slowed, of = append(others, o.from), slowed+x.slowed, of+x.bursts
	}
	if len(others) == 0 || len(others) == 1 && nearlyAll*(of-slowed) > of {
		return 0, 0, nil
	}
	return slowed, of, others
}

// allBut are the senders but one.
func allBut(list []sender, but sender) []sender {
	return slices.DeleteFunc(slices.Clone(list), func(s sender) bool { return s.from == but.from || s.notified.n == 0 })
}
