package incident

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ibwitness/packet"
)

const (
	fewestSlots = 4  // parts of the time in which all that is sent to a receiver has to be known
	sharesOf    = 10 // which part of what the fastest sender sends, one in so many, another sends at least to share a link with it
	fairTo      = 2  // how many times as much as the slowest of these the fastest sends at most, for their shares to be fair
)

// inflow is what all hosts sent to a receiver in some time and before it, bytes of payload a second.
type inflow struct {
	most           float64 // in one slot of the capture
	usual          float64 // in a slot of that time, the median
	before, during float64 // on average
	only           packet.Addr
	onlySent       float64 // in the busiest slot before it, where one host sent nearly all of that; 0: several did
	slots          int     // of that time
	width          int64   // nanoseconds
	marked         bool    // slots are those in which packets were marked
	mean           float64 // from the first of these to the last, of an episode, while something was sent, on average; 0: not known
}

// inflowOf is what was sent to a receiver between two times and before; false: that is not known.
func (t *teller) inflowOf(to packet.Addr, since, until int64) (l inflow, ok bool) {
	ends := t.sendersTo()[to]
	for _, x := range ends {
		if e := &x.c.Ends[x.end]; x.c.Timing != nil {
			l.width = max(l.width, x.c.Timing.Ends[x.end].Series.Width)
		} else if !e.QPNKnown || e.QPN > 1 {
			return l, false
		}
	}
	if l.width == 0 || !t.timed() {
		return l, false
	}
	slots := map[int64]map[packet.Addr]float64{} // by number and host: bytes
	first := since / l.width
	for _, x := range ends {
		if x.c.Timing == nil {
			continue
		}
		s := &x.c.Timing.Ends[x.end].Series
		for n := range s.Slots {
			k := (s.Start + int64(n)*s.Width) / l.width
			if slots[k] == nil {
				slots[k] = map[packet.Addr]float64{}
			}
			slots[k][x.c.Ends[x.end].Addr] += float64(s.Slots[n].Bytes + s.Slots[n].Retransmitted)
			first = min(first, k)
		}
	}
	l.measure(slots, first, since, until)
	return l, l.slots >= fewestSlots
}

// measure takes what each host sent in each slot, from the first on.
func (l *inflow) measure(slots map[int64]map[packet.Addr]float64, first, since, until int64) {
	var during []float64
	busiest, earlier := float64(0), 0
	for k := first; (k+1)*l.width <= until; k++ {
		sum, largest, by := float64(0), float64(0), packet.Addr{}
		for from, bytes := range slots[k] {
			if sum += bytes; bytes > largest {
				largest, by = bytes, from
			}
		}
		switch l.most = max(l.most, sum); {
		case k*l.width >= since:
			during = append(during, sum)
		case (k+1)*l.width <= since:
			l.before += sum
			if earlier++; sum > busiest {
				busiest, l.only, l.onlySent = sum, by, 0
				if largest >= asFast*sum {
					l.onlySent = largest
				}
			}
		}
	}
	if l.slots = len(during); l.slots == 0 {
		return
	}
	slices.Sort(during)
	l.usual = during[len(during)/2]
	for _, sum := range during {
		l.during += sum
	}
	second := time.Duration(l.width).Seconds()
	l.most, l.usual, l.onlySent = l.most/second, l.usual/second, l.onlySent/second
	l.during /= second * float64(l.slots)
	l.before /= second * float64(max(earlier, 1))
}

// full reports whether as much as ever was sent most of that time.
func (l *inflow) full() bool { return l.most > 0 && l.usual >= asFast*l.most }

// filled reports whether the link was full nearly all of the time that something was sent, and not only while packets were marked.
func (l *inflow) filled() bool { return l.mean == 0 || l.mean >= filledPart*l.most }

// fell reports whether far less was sent in that time than before.
func (l *inflow) fell() bool { return 2*l.during <= l.before }

// sharing is how many of several senders, the fastest first, share a link, and what the slowest of these sends, bytes a second.
func sharing(list []sender) (n int, slowest float64) {
	for _, s := range list {
		if s.rate > 0 && sharesOf*s.rate >= list[0].rate {
			n, slowest = n+1, s.rate
		}
	}
	return n, slowest
}

// shareLink tells of senders that slowed down far each, while all together sent as much as ever, that they fill a link. It reports whether they do.
func (t *teller) shareLink(i *Incident, list []sender, l *inflow) bool {
	n, slowest := sharing(list)
	if n < 2 || !l.full() {
		return false
	}
	of, fill, fills, times := "", "fill", "fill", ""
	if !l.filled() {
		fill, fills, times = "fill at times", "at times fill", fmt.Sprintf("; from the first of these to the last, it was %s on average while something was sent, %.0f %% of the most", perSecondOf(l.mean), 100*l.mean/l.most)
	}
	i.What = fmt.Sprintf("%s; %d hosts share one link, which they %s.", i.What[:len(i.What)-1], n, fill)
	if l.marked {
		of = " in which packets were marked"
	}
	text := fmt.Sprintf("in all %s of payload went to %v meanwhile (median of %s times %s%s), and no more than %s in any such time of the capture", perSecondOf(l.usual), i.Peer.Addr, number(uint64(l.slots)), span(l.width), of, perSecondOf(l.most))
	fits := fmt.Sprintf("%d senders to %v at once, which %s its link or a slower one on the way (incast)", n, i.Peer.Addr, fills)
	if l.onlySent >= asFast*l.most {
		text += fmt.Sprintf("; %v had sent %s before, and others hardly anything", l.only, perSecondOf(l.onlySent))
		fits += fmt.Sprintf(", as %v did before by itself", l.only)
	}
	i.fact("rate", text+times)
	fair := list[0].rate <= fairTo*slowest
	i.sharedFairly = fair && l.filled()
	share := fmt.Sprintf("%s to %s each of %d hosts, on average", perSecondOf(slowest), perSecondOf(list[0].rate), n)
	if l.marked {
		share = strings.Replace(share, "on average", "while it sent", 1)
	}
	if fair {
		share = "fair: " + share
	}
	if !slices.ContainsFunc(list, func(s sender) bool { return s.least }) {
		i.fact("shares", share)
	}
	i.FitsWith, i.Next = []string{fits}, nil
	if !l.filled() {
		i.Next = []string{"how far the senders slow down at a CNP and how soon they recover (rate limits of their RoCE reaction points), as the link is free at times"}
	}
	i.Next = append(i.Next, fmt.Sprintf("fewer senders to %v at a time, or a faster link", i.Peer.Addr))
	return true
}
