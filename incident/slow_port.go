package incident

import (
	"fmt"
	"slices"

	"ibwitness/packet"
	"ibwitness/timing"
)

// slowPort is that never more than so much was sent to a receiver, even where only one host sent, while the same hosts sent much more to another one without marks.
type slowPort struct {
	most  float64 // bytes a second
	alone []packet.Addr
	to    packet.Addr
	other float64 // bytes a second to that, by one of them
}

const (
	muchMore     = 1.5  // times as much
	ceiling      = 0.97 // of the most in a window: as much, but for a packet or two
	fewestSingle = 8    // windows in which one host sends nearly as much as ever by itself, at least
)

// slowPort tells where the link to a receiver seems to be slower than that to another; false: the capture does not show that.
func (t *teller) slowPort(i *Incident, to packet.Addr) bool {
	b := t.burstsTo(to, t.run.First, t.run.Last)
	if b == nil {
		return false
	}
	p, ok := t.slowPortOf(to, b)
	if !ok {
		return false
	}
	i.What = fmt.Sprintf("The link of %v seems to be slow: never more than %s went to it, and %s to %v. %s", to, perSecondOf(p.most), perSecondOf(p.other), p.to, i.What)
	i.fact("speed", fmt.Sprintf("never more than %s of payload went to %v in %s, and as much when only one host sent; %s sent up to %s to %v so, of which nothing was marked",
		perSecondOf(p.most), to, span(timing.BusyWidth), someOf(p.alone), perSecondOf(p.other), p.to))
	i.FitsWith = []string{fmt.Sprintf("a port of %v that runs at a lower speed than that of %v, or a slower link on the way to it only: one sender fills it", to, p.to), "a limit (shaper) on that port; or other traffic on that link, which the tap does not show"}
	i.Next = []string{fmt.Sprintf("the speed of the port of %v and of its switch port (ethtool), beside those of %v; ECN works as it should", to, p.to)}
	return true
}

// slowPortOf looks for that.
func (t *teller) slowPortOf(to packet.Addr, b *burstsTo) (p slowPort, ok bool) {
	most, list := uint64(0), b.totals()
	for k := range list {
		most = max(most, list[k].bytes)
	}
	near, single, of := 0, 0, map[packet.Addr]int{}
	for k := range list {
		if float64(list[k].bytes) < ceiling*float64(most) {
			continue
		}
		if near++; float64(list[k].most) >= asFast*float64(list[k].bytes) {
			single++
			of[list[k].from]++
		}
	}
	if p.most = perWindow(most, 1); near < fewestWindows || single < fewestSingle {
		return p, false
	}
	for other := range t.sendersTo() {
		if other == to {
			continue
		}
		x := t.burstsTo(other, t.run.First, t.run.Last)
		if x == nil {
			continue
		}
		var alone []packet.Addr
		fastest := uint64(0)
		for from := range of {
			if n, bytes := x.above(from, muchMore*float64(most)); n >= fewestSingle {
				alone, fastest = append(alone, from), max(fastest, bytes)
			}
		}
		if r := perWindow(fastest, 1); len(alone) > 0 && (len(alone) > len(p.alone) || len(alone) == len(p.alone) && (r > p.other || r == p.other && other.Compare(p.to) < 0)) {
			slices.SortFunc(alone, packet.Addr.Compare)
			p.alone, p.to, p.other = alone, other, r
		}
	}
	return p, len(p.alone) > 0
}

// above counts the windows in which a host sent more than so many bytes, and returns the most that it sent in one; 0: some of what it sent was marked.
func (b *burstsTo) above(from packet.Addr, bytes float64) (n int, most uint64) {
	for _, w := range b.of[from] {
		if w.Marked > 0 {
			return 0, 0
		}
		if float64(w.Bytes) > bytes {
			n, most = n+1, max(most, uint64(w.Bytes))
		}
	}
	return n, most
}
