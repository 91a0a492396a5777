package incident

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ibwitness/packet"
	"ibwitness/timing"
)

// Senders that CNPs slow down too far leave a link free that they filled: though their messages are in progress, next to nothing comes for a
// millisecond, and it takes several until as much comes as before.

const (
	slumpWindows = 4    // of timing.BusyWidth: a millisecond, of which the slowest is told
	slumpTo      = 10   // to which part of what came before, one in so many, it falls at least
	slumpUsed    = 2    // of which part of that, one in so many, comes on average at most
	underWay     = 0.9  // part of such a time in which a host has messages in progress, at least
	leftOut      = 4096 // bytes of an end that timing.Busy leaves out in a window, where its packets are shorter than that
)

// slump is how all that is sent to a receiver falls after the first mark of a burst, in bytes a second and nanoseconds since that mark.
type slump struct {
	from, to             int64 // of the burst
	before, lowest, mean float64
	// From when on the slowest millisecond is, 0: the burst was over sooner; when half was reached again, 0: not in the burst; when all was sent.
	lowAt, back, took int64
}

// deep reports whether it is worth telling.
func (s *slump) deep() bool {
	return s.lowAt > 0 && slumpTo*s.lowest < s.before && slumpUsed*s.mean < s.before
}

// slumping is what has to be known of what is sent to a receiver for its slumps to be found.
type slumping struct {
	messages map[packet.Addr][][2]int64       // of hosts that CNPs came to: when messages were in progress
	hosts    []packet.Addr                    // these
	least    map[packet.Addr]uint64           // what windows may leave out of each
	of       map[packet.Addr]map[int64]uint64 // bytes in windows
	all      map[int64]uint64                 // of all hosts
	marked   map[int64]bool
}

// slumpingOf returns that; nil: it is not known.
func (t *teller) slumpingOf(to packet.Addr, list []sender, b *burstsTo) *slumping {
	x := &slumping{map[packet.Addr][][2]int64{}, nil, map[packet.Addr]uint64{}, map[packet.Addr]map[int64]uint64{}, map[int64]uint64{}, map[int64]bool{}}
	for _, s := range list {
		if s.notified.n > 0 {
			x.hosts = append(x.hosts, s.from)
		}
	}
	for _, e := range t.sendersTo()[to] {
		if e.c.Timing == nil {
			continue
		}
		m, from := &e.c.Timing.Ends[e.end], e.c.Ends[e.end].Addr
		if m.Busy.Full {
			return nil
		}
		if e.c.PMTU < leftOut {
			x.least[from] += leftOut
		}
		for _, s := range m.Sent {
			x.messages[from] = append(x.messages[from], [2]int64{s.Begin, s.End})
		}
	}
	for from, windows := range b.whole {
		x.of[from] = make(map[int64]uint64, len(windows))
		for _, w := range windows {
			x.of[from][w.At] = uint64(w.Bytes)
			x.all[w.At] += uint64(w.Bytes)
			x.marked[w.At] = x.marked[w.At] || w.Marked > 0
		}
		x.messages[from] = joinedTimes(x.messages[from], 0)
	}
	return x
}

// joinedTimes puts times in order, and joins those that are no more than a gap apart.
func joinedTimes(list [][2]int64, gap int64) (out [][2]int64) {
	slices.SortFunc(list, func(a, b [2]int64) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	for _, s := range list {
		if n := len(out) - 1; n >= 0 && s[0]-out[n][1] <= gap {
			out[n][1] = max(out[n][1], s[1])
		} else {
			out = append(out, s)
		}
	}
	return out
}

// slumps are those of each burst that a mark was in, of which the senders had messages in progress for long enough after it, or which was over
// sooner.
func (x *slumping) slumps() (list []slump) {
	for _, burst := range x.bursts() {
		if s, ok := x.slumpIn(burst[0], burst[1]); ok {
			list = append(list, s)
		}
	}
	return list
}

// bursts are from when to when hosts that CNPs came to had messages in progress.
func (x *slumping) bursts() [][2]int64 {
	var all [][2]int64
	for _, from := range x.hosts {
		all = append(all, x.messages[from]...)
	}
	return joinedTimes(all, windowsApart*timing.BusyWidth)
}

// slumpIn is that of a burst; false: no mark is in it, or nothing tells of the time after that.
func (x *slumping) slumpIn(from, to int64) (s slump, ok bool) {
	first, last := from/timing.BusyWidth, to/timing.BusyWidth
	mark := first
	for mark < last && !x.marked[mark] {
		mark++
	}
	if !x.marked[mark] {
		return s, false
	}
	most := uint64(0)
	for k := first; k <= mark+1; k++ {
		most = max(most, x.all[k])
	}
	s.from, s.to = from, to
	s.before, s.lowest = perWindow(most, 1), perWindow(most, 1)
	low, sum := int64(0), uint64(0)
	for k := mark + 1; k+slumpWindows <= last; k++ {
		bytes, known := x.upTo(first, mark+1, k)
		if r := perWindow(bytes, slumpWindows); known && r < s.lowest {
			s.lowest, low = r, k
		}
	}
	if low == 0 && (last-mark > slumpWindows || to-max(from, mark*timing.BusyWidth) < timing.BusyWidth) {
		return s, false
	}
	for k := mark; k <= last; k++ {
		sum += x.all[k]
		if low > 0 && k >= low && s.back == 0 && 2*x.all[k] >= most {
			s.back = (k - mark) * timing.BusyWidth
		}
	}
	begin := max(from, mark*timing.BusyWidth)
	if s.took = to - begin; low > 0 {
		s.lowAt = (low - mark) * timing.BusyWidth
	}
	s.mean = float64(sum) / time.Duration(s.took).Seconds()
	return s, true
}

// upTo is how much came in the windows of a millisecond from k on, at most; false: hosts that sent half of what came in earlier ones, from first
// to last, may have had nothing more to send.
func (x *slumping) upTo(first, last, k int64) (bytes uint64, known bool) {
	had, all := uint64(0), uint64(0)
	for n := first; n <= last; n++ {
		all += x.all[n]
	}
	for n := k; n < k+slumpWindows; n++ {
		bytes += x.all[n]
	}
	for from, of := range x.of {
		for n := k; n < k+slumpWindows; n++ {
			if of[n] == 0 {
				bytes += x.least[from]
			}
		}
		if slices.Contains(x.hosts, from) && x.under(from, k*timing.BusyWidth, (k+slumpWindows)*timing.BusyWidth) {
			for n := first; n <= last; n++ {
				had += of[n]
			}
		}
	}
	return bytes, 2*had >= all
}

// under reports whether messages of a host were in progress nearly all of a time.
func (x *slumping) under(from packet.Addr, since, until int64) bool {
	sum := int64(0)
	for _, m := range x.messages[from] {
		sum += max(0, min(m[1], until)-max(m[0], since))
	}
	return float64(sum) >= underWay*float64(until-since)
}

// slump tells of senders that slow down so far after the first mark that the link is hardly used until they recover. It reports whether they do.
func (t *teller) slump(i *Incident, list []sender, b *burstsTo) bool {
	if b == nil || !t.timed() {
		return false
	}
	x := t.slumpingOf(i.Peer.Addr, list, b)
	if x == nil {
		return false
	}
	all := x.slumps()
	deep := slices.DeleteFunc(slices.Clone(all), func(s slump) bool { return !s.deep() })
	long := slices.DeleteFunc(slices.Clone(all), func(s slump) bool { return s.lowAt == 0 })
	if len(deep) == 0 || 2*len(deep) < len(long) {
		return false
	}
	of := func(what func(s *slump) float64) (median float64) {
		values := make([]float64, len(deep))
		for k := range deep {
			values[k] = what(&deep[k])
		}
		slices.Sort(values)
		return values[len(values)/2]
	}
	before, lowest, mean := of(func(s *slump) float64 { return s.before }), of(func(s *slump) float64 { return s.lowest }), of(func(s *slump) float64 { return s.mean })
	lowAt, took := int64(of(func(s *slump) float64 { return float64(s.lowAt) })), int64(of(func(s *slump) float64 { return float64(s.took) }))
	var back []int64
	for _, s := range deep {
		if s.back > 0 {
			back = append(back, s.back)
		}
	}
	slices.Sort(back)
	again := "half of that was not reached again before all was sent"
	if len(back) > 0 {
		again = fmt.Sprintf("half of that was reached again %s after that mark", between(span(back[0]), span(back[len(back)-1])))
		if n := len(deep) - len(back); n > 0 {
			again += fmt.Sprintf(" (not in %d of them)", n)
		}
	}
	bursts, median := "in a burst", ""
	if len(all) > 1 {
		bursts = fmt.Sprintf("in %d of %d bursts whose messages tell", len(deep), len(all))
	}
	if len(deep) > 1 {
		median = " (medians)"
	}
	used := fmt.Sprintf("%.0f %%", 100*mean/before)
	i.fact("over time", fmt.Sprintf("%s, from the first mark on: %s of payload in all until then, at most %s in the slowest millisecond, which began %s after it, though messages were in progress; %s; on average %s (%s) until the last packet, %s after the mark%s",
		bursts, perSecondOf(before), perSecondOf(lowest), span(lowAt), again, perSecondOf(mean), used, span(took), median))
	fits := "congestion control (DCQCN) of the senders that slows them down too far at CNPs, and raises their rates too slowly"
	next := "how far the reaction points of the senders slow down (ecn/roce_rp: rpg_gd, dce_tcp_g, rpg_min_rate, rpg_min_dec_fac), and how soon they recover (rpg_time_reset, rpg_byte_reset, rpg_ai_rate, rpg_hai_rate)"
	which, others := t.slumpsBeside(all, deep)
	told := fmt.Sprintf("%sat most %s came in the slowest millisecond after that, where %s had come, and %s on average (%s)%s.",
		which, perSecondOf(lowest), perSecondOf(before), perSecondOf(mean), used, others)
	if said, _, ok := strings.Cut(i.What, ", which they fill"); ok {
		i.What, i.Next = said+", which they fill only until they slow down: "+told, nil
	} else {
		i.What = strings.TrimSuffix(i.What, ".") + "; " + told
	}
	i.sharedFairly = false
	i.FitsWith = slices.Insert(i.FitsWith, 0, fits)
	i.Next = slices.Insert(i.Next, 0, next, "the marking thresholds (ECN: Kmin, Kmax and the probability) of the switch port to "+i.Peer.Addr.String())
	if 2*len(deep) < len(all) {
		x.incast(i, all)
	}
	return true
}
