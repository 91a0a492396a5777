package incident

import (
	"slices"
	"time"

	"ibwitness/packet"
	"ibwitness/timing"
)

const (
	fewestWindows = 16  // of timing.BusyWidth that tell how fast a host sends
	mostlyKnown   = 0.9 // part of the payload of which windows have to tell
	idleFor       = 4   // how many times as long as hosts send to a receiver, at least, they send nothing: averages over all of it do not tell how fast they are
	windowsApart  = 4   // windows without traffic of a host, after which a burst of it begins: a millisecond
)

// burstsTo is what each host sent to a receiver while it sent: windows of timing.BusyWidth, in order.
type burstsTo struct {
	of   map[packet.Addr][]timing.Window
	at   []int64 // windows in which any host sent
	idle bool    // nothing was sent most of the time
	few  bool    // likewise, and too few windows tell how fast hosts send
	// falls says how what comes in all falls after the first marks of bursts; "": that is not known.
	falls string
	// spans are the bursts of a host whose times are known, whole its windows at any time, since its first burst may begin before those times and its
	// last one end after them, and kept how many bytes it sent for each that windows tell of.
	spans map[packet.Addr][]burstSpan
	whole map[packet.Addr][]timing.Window
	kept  map[packet.Addr]float64
}

// burstsTo returns what each host sent to a receiver in windows between two times; nil: that is not known, or no windows tell of most of it.
func (t *teller) burstsTo(to packet.Addr, since, until int64) *burstsTo {
	if !t.timed() {
		return nil
	}
	b := &burstsTo{
		of: map[packet.Addr][]timing.Window{}, whole: map[packet.Addr][]timing.Window{},
		spans: map[packet.Addr][]burstSpan{}, kept: map[packet.Addr]float64{},
	}
	merged, sent, known := map[packet.Addr]*timing.Busy{}, uint64(0), uint64(0)
	bytes := map[packet.Addr]uint64{}
	for _, x := range t.sendersTo()[to] {
		e := &x.c.Ends[x.end]
		if x.c.Timing == nil {
			if e.QPNKnown && e.QPN <= 1 {
				continue // management
			}
			return nil
		}
		bytes[e.Addr] += e.Bytes
		if sent += e.Bytes; merged[e.Addr] == nil {
			merged[e.Addr] = &timing.Busy{}
		}
		for _, w := range x.c.Timing.Ends[x.end].Busy.Windows {
			known += uint64(w.Bytes)
		}
		merged[e.Addr].Merge(&x.c.Timing.Ends[x.end].Busy)
	}
	if float64(known) < mostlyKnown*float64(sent) || known == 0 {
		return nil
	}
	for from, busy := range merged {
		its := uint64(0)
		b.whole[from] = busy.Windows
		for _, w := range busy.Windows {
			its += uint64(w.Bytes)
			if (w.At+1)*timing.BusyWidth > since && w.At*timing.BusyWidth <= until {
				b.of[from] = append(b.of[from], w)
				b.at = append(b.at, w.At)
			}
		}
		if b.spans[from] = b.spansOf(t.sendersTo()[to], from, since, until); its > 0 {
			b.kept[from] = float64(bytes[from]) / float64(its)
		}
	}
	slices.Sort(b.at)
	b.at = slices.Compact(b.at)
	b.idle = idleFor*int64(len(b.at))*timing.BusyWidth <= until-since
	b.few = b.idle && len(b.at) < fewestWindows
	b.idle = b.idle && !b.few
	return b
}

// rate is how many bytes a second a host sent while it did: without the first window of each burst and the last, which it sent only in a part of,
// where others are known; else at least, as whole says; 0: it sent nothing.
func (b *burstsTo) rate(from packet.Addr) (rate float64, whole bool) {
	list, inner, all, n := b.of[from], uint64(0), uint64(0), 0
	for k := range list {
		all += uint64(list[k].Bytes)
		if k > 0 && k < len(list)-1 && list[k].At == list[k-1].At+1 && list[k+1].At == list[k].At+1 {
			inner, n = inner+uint64(list[k].Bytes), n+1
		}
	}
	if n < fewestWindows {
		inner, n, whole = all, len(list), true
	}
	return perWindow(inner, n), whole
}

// perWindow is how many bytes went in a second, of so many in so many windows.
func perWindow(bytes uint64, windows int) float64 {
	return float64(bytes) / (float64(max(windows, 1)) * time.Duration(timing.BusyWidth).Seconds())
}

// total is what all hosts sent in a window: the sum, and which sent most of it.
type total struct {
	bytes, most uint64
	from        packet.Addr // that sent the most
	marked      bool        // a packet was
}

// totals returns what all hosts sent, by window, as b.at has them.
func (b *burstsTo) totals() []total {
	index := make(map[int64]int, len(b.at))
	for k, at := range b.at {
		index[at] = k
	}
	list := make([]total, len(b.at))
	for from, windows := range b.of {
		for _, w := range windows {
			x := &list[index[w.At]]
			x.bytes += uint64(w.Bytes)
			x.marked = x.marked || w.Marked > 0
			if n := uint64(w.Bytes); n > x.most || n == x.most && from.Compare(x.from) < 0 {
				x.most, x.from = n, from
			}
		}
	}
	return list
}

// inflow is what all hosts sent in the windows in which packets were marked; false: these are too few, or only one host sent in most of them.
func (b *burstsTo) inflow() (l inflow, ok bool) {
	var marked []uint64
	most, alone, list := uint64(0), 0, b.totals()
	for k := range list {
		x := &list[k]
		if most = max(most, x.bytes); !x.marked {
			continue
		}
		if marked = append(marked, x.bytes); float64(x.most) >= asFast*float64(x.bytes) {
			alone++
		}
	}
	if len(marked) < fewestWindows || 2*alone > len(marked) {
		return l, false
	}
	slices.Sort(marked)
	return inflow{most: perWindow(most, 1), usual: perWindow(marked[len(marked)/2], 1), slots: len(marked), width: timing.BusyWidth, marked: true, mean: b.mean(b.episodes())}, true
}
