package agent

import (
	"cmp"
	"slices"
	"time"

	"ibwitness/packet"
)

// Two interfaces of a capture, each of which shows another direction, may have clocks that differ. How far they do shows by how long after its request, by these clocks, each answer comes.

// Apart is that the clock of one tap stamps too early, compared with that of another: answers that it shows are dated before their requests, which the other shows.
type Apart struct {
	Early, Against uint16 // taps
	Answers        uint64 // of Early to requests of Against, where the capture holds both
	Before         uint64 // of them, those that are dated before their requests
	Levels         []ApartLevel
}

// ApartLevel is by how much answers were dated before their requests for a time in which that was steady; less than 0: after them.
type ApartLevel struct {
	First, Last         int64         // requests, nanoseconds since the Unix epoch, by the clock of Against
	Answers             int           // that were measured
	Least, Median, Most time.Duration // but for one answer in a hundred at each end; where Most is not more than 0, it is of all
	Begins, Ends        time.Duration // the medians of the first and the last part of it
	Between             time.Duration // these two
	Spread              time.Duration // of most of the first part
	Answer, Request     uint64        // frames of the first
}

const (
	// mostWays is how many pairs of taps are looked at, and mostDelays how many answers are kept of each: of more, one in so many.
	mostWays   = 64
	mostDelays = 1 << 14
	// leastSteady is how far the delay of an answer may be from that of those before it where the clocks are steady, or one part in steadyPart of that.
	leastSteady = 20 * time.Microsecond
	steadyPart  = 4
	// recent is how many answers tell what is steady, and mostAlike how many of so many have to agree for a level to begin.
	recent    = 8
	mostAlike = 6
	// One in stray of the answers within a level may be apart from it.
	stray = 4
)

// tapPair is the taps of a request and of its answer.
type tapPair struct{ request, answer uint16 }

// delay is how long after its request an answer is dated.
type delay struct {
	at              int64 // of the request
	by              time.Duration
	request, answer uint64 // frames
}

// delays are those of the answers of one tap to the requests of another.
type delays struct {
	list            []delay
	every           uint64 // of how many one is kept
	answers, before uint64
}

// apart takes how long after a request of one tap an answer of another is dated.
func (k *skews) apart(p tapPair, d delay) {
	s := k.ways[p]
	if s == nil {
		if len(k.ways) >= mostWays {
			return
		}
		s = &delays{every: 1}
		k.ways[p] = s
	}
	s.add(d)
	k.found = k.found || s.before >= fewestEarly
}

// add adds one.
func (s *delays) add(d delay) {
	if len(s.list) == mostDelays {
		for i := range mostDelays / 2 {
			s.list[i] = s.list[2*i]
		}
		s.list, s.every = s.list[:mostDelays/2], 2*s.every
	}
	if s.answers%s.every == 0 {
		s.list = append(s.list, d)
	}
	if s.answers++; d.by < 0 {
		s.before++
	}
}

// levels returns for which times the delays were steady, in their order.
func (s *delays) levels() (levels []ApartLevel) {
	var now, odd []delay // what the newest level holds, and what came after that and is not of it
	strays := 0
	end := func() {
		if len(now) >= fewestEarly && strays*stray <= len(now) {
			levels = append(levels, levelOf(now))
		}
		now, strays = nil, 0
	}
	for _, d := range s.list {
		if len(now) > 0 && alike(d.by, middle(now[max(0, len(now)-recent):])) {
			now, strays, odd = append(now, d), strays+len(odd), odd[:0]
			continue
		}
		if odd = append(odd, d); len(odd) < recent {
			continue
		}
		if begun := agree(odd[len(odd)-recent:]); begun != nil {
			strays += len(odd) - recent
			end()
			now, odd = begun, odd[:0]
		}
	}
	end()
	return levels
}

// agree returns those of some delays that are alike, where most are.
func agree(list []delay) (same []delay) {
	at := middle(list)
	for _, d := range list {
		if alike(d.by, at) {
			same = append(same, d)
		}
	}
	if len(same) < mostAlike {
		return nil
	}
	return same
}

// alike reports whether a delay is like another.
func alike(a, b time.Duration) bool {
	return (a - b).Abs() <= max(leastSteady, b.Abs()/steadyPart)
}

// middle is the median of some delays.
func middle(list []delay) time.Duration { return sortedBy(list)[len(list)/2] }

func sortedBy(list []delay) []time.Duration {
	by := make([]time.Duration, len(list))
	for i, d := range list {
		by[i] = d.by
	}
	slices.Sort(by)
	return by
}

// levelOf sums up a level.
func levelOf(list []delay) ApartLevel {
	by := sortedBy(list)
	n, part := len(by), max(recent, len(by)/8)
	first := sortedBy(list[:part])
	cut := n / 100
	most := -by[cut]
	if most <= 0 {
		most = -by[0]
	}
	return ApartLevel{
		First: list[0].at, Last: list[n-1].at, Answers: n,
		Least: -by[n-1-cut], Median: -by[n/2], Most: most,
		Begins: -first[part/2], Ends: -middle(list[n-part:]), Between: time.Duration(list[n-part+part/2].at - list[part/2].at), Spread: first[part-1-part/10] - first[part/10],
		Answer: list[0].answer, Request: list[0].request,
	}
}

// listApart returns the taps whose clocks differ, the one that differs most first.
func (k *skews) listApart() (list []Apart) {
	for p, s := range k.ways {
		if s.before < fewestEarly {
			continue
		}
		a := Apart{Early: p.answer, Against: p.request, Answers: s.answers, Before: s.before, Levels: s.levels()}
		if slices.ContainsFunc(a.Levels, func(l ApartLevel) bool { return l.Least > 0 }) {
			list = append(list, a)
		}
	}
	slices.SortFunc(list, func(a, b Apart) int {
		return cmp.Or(cmp.Compare(b.Most().Median, a.Most().Median), cmp.Compare(a.Early, b.Early), cmp.Compare(a.Against, b.Against))
	})
	return list
}

// Most is the level in which the clocks differ most.
func (a *Apart) Most() *ApartLevel {
	most := &a.Levels[0]
	for i := range a.Levels {
		if a.Levels[i].Median > most.Median {
			most = &a.Levels[i]
		}
	}
	return most
}

// pairOf pairs a packet with its request or answer, which came before it, where another tap shows that.
func (k *skews) pairOf(x *exchanged, p *packet.Packet, answers bool) {
	switch {
	case x.tap == p.Tap:
	case answers:
		k.apart(tapPair{x.tap, p.Tap}, delay{x.at, time.Duration(p.Time - x.at), x.request, p.Frame})
	default:
		k.apart(tapPair{p.Tap, x.tap}, delay{p.Time, time.Duration(x.at - p.Time), p.Frame, x.answer})
	}
}
