package incident

import (
	"cmp"
	"fmt"
	"slices"
)

// Of a sender whose bursts are over within less than a millisecond windows of time do not tell whether it slows down, but how long its messages took
// does: where nearly each takes most of what the way to the receiver carries, though CNPs come to it in each, it goes on as if none came.

const (
	fewestPaced = 16      // messages after the first CNP
	mostOfWay   = 2. / 3  // part of what the way carries, by the fastest message of any sender
	pacedSlow   = 9. / 10 // part of the messages that were as fast at least
)

// fullRate is such a sender.
type fullRate struct {
	sender
	messages int
	bytes    uint32  // of each
	took     int64   // of nearly all, at most, nanoseconds
	fastest  float64 // bytes a second of the fastest message of any
	others   int     // that slowed down
	slower   float64 // times as long as before messages of these took
}

// atFullRate tells first of the one sender whose messages go on at nearly the rate of the way though CNPs come to it, while others slow down. It
// reports whether there is one.
func (t *teller) atFullRate(i *Incident, list []sender) bool {
	if !t.timed() || t.run.Forgotten.Events > 0 {
		return false
	}
	most := slices.MaxFunc(list, func(a, b sender) int { return cmp.Compare(a.notified.n, b.notified.n) }) // no other can have got twice as many
	k := t.fullRateOf(most, list)
	if k.others < 2 {
		return false
	}
	all := uint64(0)
	for _, s := range list {
		all += s.marked.n
	}
	i.What = fmt.Sprintf("%v seems not to slow down though %s came to it (%s of the marks are on its packets): nine of ten of its %s of %s each were sent in %s or less, at %s or faster, "+
		"while those of %d others took up to %.1f times as long after CNPs as before. %s",
		k.from, count(k.notified.n, "CNP"), share(k.marked.n, all), count(uint64(k.messages), "message"), count(uint64(k.bytes), "byte"), span(k.took),
		perSecondOf(perSecond(uint64(k.bytes), k.took)), k.others, k.slower, i.What)
	i.fact("reaction", fmt.Sprintf("none of %v that its messages show; no message of any of these hosts came at more than %s", k.from, perSecondOf(k.fastest)))
	i.setOtherwise(k.from, "the others")
	t.mayDropCNPs(i, k.from)
	return true
}

// fullRateOf is how a sender sent after the first CNP to each of its queue pairs, beside others that slowed down; others is 0: it slowed down too, or that
// is not known.
func (t *teller) fullRateOf(s sender, list []sender) (k fullRate) {
	k.sender = s
	var took []int64
	for c, from := range t.notified(s.way) {
		bytes, known := sizeOfAll(c, from)
		if !known || k.bytes != 0 && bytes != k.bytes {
			return k
		}
		k.bytes = bytes
		for _, m := range c.Timing.Ends[from].Sent {
			if m.Begin > c.Ends[from].Trouble.Notified.First {
				took = append(took, m.End-m.Begin)
			}
		}
	}
	if k.messages = len(took); k.messages < fewestPaced || s.notified.n < max(tellingCNPs, uint64(k.messages)) {
		return k
	}
	slices.Sort(took)
	k.took = max(took[int(pacedSlow*float64(len(took)))], 1)
	n := 0
	k.fastest = t.fastestTo(s.way)
	for _, o := range list {
		if o.from == s.from {
			continue
		}
		x := t.around(o.way)
		if mostlyCNPs*o.notified.n > s.notified.n || x.pace.n == 0 || x.pace.n < x.pairs || x.pace.slowed < x.pace.n || x.pace.usual == 0 {
			return k // it may be that this one is no different
		}
		n++
		k.slower = max(k.slower, float64(x.pace.longest)/float64(x.pace.usual))
		k.fastest = max(k.fastest, t.fastestTo(o.way))
	}
	if perSecond(uint64(k.bytes), k.took) >= mostOfWay*k.fastest {
		k.others = n
	}
	return k
}

// fastestTo is in how many bytes a second the fastest message of a host to another was sent, on queue pairs that CNPs came to.
func (t *teller) fastestTo(w way) (rate float64) {
	for c, from := range t.notified(w) {
		bytes, _ := sizeOfAll(c, from)
		for _, m := range c.Timing.Ends[from].Sent {
			rate = max(rate, perSecond(uint64(bytes), max(m.End-m.Begin, 1)))
		}
	}
	return rate
}
