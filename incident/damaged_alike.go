package incident

import (
	"cmp"
	"fmt"
	"slices"

	"ibwitness/packet"
)

// On this many packets at least of each way, and at most so many times as often as on any other, are packets damaged alike.
const (
	alikeDamaged = 5
	alikeTimes   = 2
)

// damagedAlike returns the host that all damaged packets go to, or come from, on several ways, on each as often as on the others: no other host tells
// them apart. nil: there is none, or packets were not all checked.
func (s *judgedLoads) damagedAlike(ways []*onWay, n uint64) *damagedHost {
	if s == nil || len(ways) < 2 {
		return nil
	}
	for _, from := range []bool{false, true} {
		x := ways[0].side(from)
		if slices.ContainsFunc(ways, func(w *onWay) bool {
			return w.side(from) != x || w.damaged.n < alikeDamaged || s.ways[w.way].packets == 0
		}) {
			continue
		}
		byRate := func(a, b *onWay) int { return cmp.Compare(s.rate(a), s.rate(b)) }
		least, most := slices.MinFunc(ways, byRate), slices.MaxFunc(ways, byRate)
		if s.rate(most) > alikeTimes*s.rate(least) || s.sparesAny(x, from, ways, n) {
			continue
		}
		side := "from"
		if from {
			side = "to"
		}
		return &damagedHost{addr: x, from: from, ways: len(ways), sent: s, alike: fmt.Sprintf("%s %d hosts alike (%.2g to %.2g %% of what went on each way)",
			side, len(ways), 100*s.rate(least), 100*s.rate(most))}
	}
	return nil
}

// rate is which part of the packets on a way was damaged.
func (s *judgedLoads) rate(w *onWay) float64 {
	return float64(w.damaged.n) / float64(w.damaged.n+s.ways[w.way].packets)
}

// sparesAny reports whether there is a way of host x on which so much was sent that some would have been damaged, and none was.
func (s *judgedLoads) sparesAny(x packet.Addr, from bool, harmed []*onWay, n uint64) bool {
	var of load
	for _, w := range harmed {
		of = of.plus(s.ways[w.way])
	}
	for w, l := range s.ways {
		hit := slices.ContainsFunc(harmed, func(o *onWay) bool { return o.way == w })
		if w.side(from) == x && !hit && n*l.bytes >= tellingMisses*of.bytes {
			return true
		}
	}
	return false
}

// alikeReasons puts first that it is likely where all ways of the host meet. oneBit says that it is no link, as flips.oneBit does.
func (h *damagedHost) alikeReasons(i *Incident, oneBit bool) {
	where, passed := "likely what all packets to %v pass before the tap, rather than %d senders or their links", "the switch port and link towards %v, up to the tap"
	if h.from {
		where, passed = "likely what all packets of %v pass before the tap, rather than %d ways: its adapter, or its link and switch port", "the adapter, link and switch port of %v, up to the tap"
	}
	where, passed = fmt.Sprintf(where, h.addr, h.ways), fmt.Sprintf(passed, h.addr)
	if oneBit {
		i.FitsWith = []string{where + "; of that, memory or a bus of which one bit is stuck or flips: a link would flip others too"}
		i.Next[0] = passed + ": ECC and parity errors, and internal drops, of the devices"
		return
	}
	i.FitsWith, i.Next = slices.Insert(i.FitsWith, 0, where), slices.Insert(i.Next, 0, passed)
}
