package incident

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"ibwitness/packet"
	"ibwitness/timing"
)

// fewestLone is of how many bursts of one sender, and of several, on they are compared.
const fewestLone = 2

const slowerLink = "a slower link on the way"

// burstOfAll is what hosts sent to a receiver without a break.
type burstOfAll struct {
	from, to int64  // windows of timing.BusyWidth, the last one too
	until    uint64 // bytes up to the window with the first mark, with that; of all windows, where none has one
	most     packet.Addr
	lone     bool // nearly all of it is of that host
	marked   bool
	hosts    int // that sent a good part of it
}

// burstsOfAll are the bursts of all hosts, at any time.
func (b *burstsTo) burstsOfAll() (list []burstOfAll) {
	type part struct {
		timing.Window
		from packet.Addr
	}
	var all []part
	for from, windows := range b.whole {
		for _, w := range windows {
			all = append(all, part{w, from})
		}
	}
	slices.SortFunc(all, func(x, y part) int { return cmp.Or(cmp.Compare(x.At, y.At), x.from.Compare(y.from)) })
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].At-all[n-1].At <= windowsApart {
			n++
		}
		x, mark, sum, of := burstOfAll{from: all[0].At, to: all[n-1].At}, int64(-1), uint64(0), map[packet.Addr]uint64{}
		for _, w := range all[:n] {
			if w.Marked > 0 && !x.marked {
				x.marked, mark = true, w.At
			}
		}
		for _, w := range all[:n] {
			if of[w.from] += uint64(w.Bytes); mark < 0 || w.At <= mark {
				x.until += uint64(w.Bytes)
			}
			sum += uint64(w.Bytes)
		}
		for from, bytes := range of {
			if m := of[x.most]; m < bytes || m == bytes && from.Compare(x.most) < 0 {
				x.most = from
			}
		}
		for _, bytes := range of {
			if sharesOf*bytes >= of[x.most] {
				x.hosts++
			}
		}
		x.lone = float64(of[x.most]) >= asFast*float64(sum)
		list, all = append(list, x), all[n:]
	}
	return list
}

// loneBursts tells of bursts that one sender filled the way with and none of which was marked, where all marks are in those of several at once: the
// way takes what one sends, and no link on it is slower.
func (t *teller) loneBursts(i *Incident, list []sender, b *burstsTo) {
	at := slices.Index(i.FitsWith, slowerLink)
	if b == nil || at < 0 || !t.timed() {
		return
	}
	x := t.slumpingOf(i.Peer.Addr, list, b)
	if x == nil {
		return
	}
	var rates []float64
	var lone []packet.Addr
	var untils []uint64
	var hosts [2]int
	all, most := b.burstsOfAll(), float64(0)
	for _, s := range all {
		if !s.marked {
			continue
		}
		if s.lone {
			return
		}
		if untils = append(untils, s.until); hosts[0] == 0 || s.hosts < hosts[0] {
			hosts[0] = s.hosts
		}
		hosts[1] = max(hosts[1], s.hosts)
	}
	if len(untils) < fewestLone {
		return
	}
	slices.Sort(untils)
	for _, bytes := range x.all {
		most = max(most, perWindow(bytes, 1))
	}
	for _, s := range all {
		if !s.lone || s.marked || s.until < untils[len(untils)/2] || !slices.ContainsFunc(list, func(o sender) bool { return o.from == s.most && o.marked.n > 0 }) {
			continue
		}
		if r := x.rateOf(&s); r >= asFast*most {
			rates = append(rates, r)
			if !slices.Contains(lone, s.most) {
				lone = append(lone, s.most)
			}
		}
	}
	if len(rates) < fewestLone || slices.ContainsFunc(list, func(s sender) bool {
		return sharesOf*s.marked.n >= slices.MaxFunc(list, byMarks).marked.n && !slices.Contains(lone, s.from)
	}) {
		return // another may have a slower link
	}
	slices.Sort(rates)
	several := fmt.Sprint(hosts[0])
	if hosts[1] > hosts[0] {
		several += fmt.Sprintf(" to %d", hosts[1])
	}
	i.fact("compared", fmt.Sprintf("%d bursts of one sender (%s) came at %s without a mark; all marks are in the %d bursts of %s at once: no link before the tap is slower than that",
		len(rates), sorted(lone), perSecondOf(rates[len(rates)/2]), len(untils), several))
	i.FitsWith = slices.Delete(i.FitsWith, at, at+1)
}

// rateOf is at how many bytes a second the host that sent a burst did, by its messages; 0: that is not known.
func (x *slumping) rateOf(s *burstOfAll) float64 {
	bytes, ns := uint64(0), int64(0)
	for k := s.from; k <= s.to; k++ {
		bytes += x.of[s.most][k]
	}
	for _, m := range joinedTimes(slices.Clone(x.messages[s.most]), windowsApart*timing.BusyWidth) {
		if m[0]/timing.BusyWidth >= s.from && m[1]/timing.BusyWidth <= s.to {
			ns += m[1] - m[0]
		}
	}
	if ns == 0 {
		return 0
	}
	return float64(bytes) / time.Duration(ns).Seconds()
}

func byMarks(a, b sender) int { return cmp.Compare(a.marked.n, b.marked.n) }
