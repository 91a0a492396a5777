package recorder

import (
	"slices"
	"sync"

	"ibwitness/rule"
)

// mostHeld is how many findings of a second have their frames held.
const mostHeld = 256

// holdShare of the memory, one part in so many, is for frames that are held.
const holdShare = 4

// held are the frames around findings, copied before the memory of all frames has gone round. The oldest ones make room for new ones.
type held struct {
	mu     sync.Mutex
	room   int // bytes
	bytes  int
	of     map[place]*[]placed
	order  []place
	second int64
	n      int // findings of that second
}

// place is where a finding is.
type place struct {
	tap   uint16
	frame uint64
}

// heldSize is what holding a frame takes beside its data.
const heldSize = 96

func sizeOf(list []placed) (n int) {
	for i := range list {
		n += heldSize + len(list[i].frame.Data)
	}
	return n
}

// Hold keeps the frames around a finding, as Around finds them now, for when it is asked later. It may be called again, to add those that have
// come since, and from any goroutine.
func (r *Recorder) Hold(f *rule.Finding, n int) {
	if !r.held.may(f) {
		return
	}
	list := r.around(f, n)
	if len(list) == 0 {
		return
	}
	h := &r.held
	h.mu.Lock()
	defer h.mu.Unlock()
	at := place{f.Tap, f.Frame}
	if was := h.of[at]; was != nil {
		h.bytes -= sizeOf(*was)
		list = trimmed(merged(*was, list), f, n)
		*was = list
	} else {
		h.of[at] = &list
		h.order = append(h.order, at)
	}
	h.bytes += sizeOf(list)
	for h.bytes > h.room {
		h.bytes -= sizeOf(*h.of[h.order[0]])
		delete(h.of, h.order[0])
		h.order = h.order[1:]
	}
}

// may reports whether the frames around another finding may be held: in a flood of findings, those of all are too many.
func (h *held) may(f *rule.Finding) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.of[place{f.Tap, f.Frame}] != nil {
		return true
	}
	if s := f.Time / 1e9; s != h.second {
		h.second, h.n = s, 0
	}
	h.n++
	return h.n <= mostHeld
}

// frames returns what is held of a finding.
func (h *held) frames(f *rule.Finding) []placed {
	h.mu.Lock()
	defer h.mu.Unlock()
	if list := h.of[place{f.Tap, f.Frame}]; list != nil {
		return *list
	}
	return nil
}

// merged is what two lists have together, in the order in which they came.
func merged(a, b []placed) []placed {
	list := slices.Concat(a, b)
	slices.SortStableFunc(list, func(a, b placed) int { return a.compare(b.position) })
	for i := 1; i < len(list); i++ {
		if k := &list[i-1]; k.position == list[i].position {
			k.proof = k.proof && list[i].proof
		}
	}
	return slices.CompactFunc(list, func(a, b placed) bool { return a.position == b.position })
}

// adjacent is which up to n frames are adjacent to the own one of a finding: from which on, and how many after it. Those that only prove it do not count.
func adjacent(list []placed, own, n int) (first, after int) {
	for _, k := range list[own+1:] {
		if !k.proof && after < n/afterPart {
			after++
		}
	}
	first, room := own, n-1-after
	for i := own - 1; i >= 0 && room > 0; i-- {
		if !list[i].proof {
			first = i
			room--
		}
	}
	return first, after
}

// trimmed leaves up to n adjacent frames around the finding, and those that prove it.
func trimmed(list []placed, f *rule.Finding, n int) (out []placed) {
	is := func(k *placed, number uint64) bool { return k.frame.Tap == f.Tap && k.frame.Number == number }
	own := slices.IndexFunc(list, func(k placed) bool { return is(&k, f.Frame) })
	first, after := adjacent(list, own, n)
	for i, k := range list {
		together := !k.proof && i >= first && (i <= own || after > 0)
		if together && i > own {
			after--
		}
		if !together && !slices.ContainsFunc(f.Evidence, func(number uint64) bool { return is(&k, number) }) {
			continue
		}
		k.proof = !together
		out = append(out, k)
	}
	return out
}
