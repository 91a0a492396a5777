package passive

import (
	"unsafe"

	"ibwitness/internal/cache"
	"ibwitness/internal/keyed"
	"ibwitness/packet"
)

// The table of PSNs is open addressing with linear probing, at most three quarters full; a removed slot is filled from later ones, so that
// no probe passes over the dead.

const minSlots = 64

// sparse is how many times larger than its content a table is when it shrinks: most flows are paired soon after they are noted.
const sparse = 16

// wantSlot counts the flows that expect a PSN in a scope. flows is the exclusive or of their numbers: with n = 1 it is the flow.
type wantSlot struct {
	key   uint64 // see want
	n     uint32 // 0: empty
	flows uint32
}

// want is the key of a PSN in a scope.
func want(scope uint64, psn packet.PSN) uint64 { return scope<<24 | uint64(psn) }

type wantTable struct {
	slots []wantSlot
	n     int
}

func wantHash(key uint64) int { return int(keyed.Pair(key, 0) >> 1) }

// find returns the slot of a key, or the empty one where it belongs. The table must have slots.
func (t *wantTable) find(key uint64) int {
	mask := len(t.slots) - 1
	for i := wantHash(key) & mask; ; i = (i + 1) & mask {
		if w := &t.slots[i]; w.n == 0 || w.key == key {
			return i
		}
	}
}

func (t *wantTable) get(key uint64) *wantSlot {
	if t.n == 0 {
		return nil
	}
	if w := &t.slots[t.find(key)]; w.n > 0 {
		return w
	}
	return nil
}

func (t *wantTable) add(key uint64, flow uint32) {
	if 4*(t.n+1) > 3*len(t.slots) {
		t.resize(max(minSlots, 2*len(t.slots)))
	}
	w := &t.slots[t.find(key)]
	if w.n == 0 {
		t.n++
	}
	*w = wantSlot{key: key, n: w.n + 1, flows: w.flows ^ flow}
}

// ahead fetches where the search for a key begins.
func (t *wantTable) ahead(key uint64, l *cache.Lines) {
	if len(t.slots) > 0 {
		l.Add(unsafe.Pointer(&t.slots[wantHash(key)&(len(t.slots)-1)]))
	}
}

func (t *wantTable) resize(size int) {
	old := t.slots
	t.slots = make([]wantSlot, size)
	cache.LargePages(t.slots)
	for _, w := range old {
		if w.n > 0 {
			t.slots[t.find(w.key)] = w
		}
	}
}

func (t *wantTable) take(key uint64, flow uint32) {
	i := t.find(key)
	w := &t.slots[i]
	w.n--
	w.flows ^= flow
	if w.n > 0 {
		return
	}
	t.n--
	mask := len(t.slots) - 1
	for j := (i + 1) & mask; t.slots[j].n > 0; j = (j + 1) & mask {
		if home := wantHash(t.slots[j].key) & mask; (j-home)&mask >= (j-i)&mask {
			t.slots[i] = t.slots[j]
			i = j
		}
	}
	t.slots[i] = wantSlot{}
	if len(t.slots) > minSlots && t.n*sparse < len(t.slots) {
		t.resize(len(t.slots) / 2)
	}
}

// flowSlot is what a flow expects, oldest first.
type flowSlot struct {
	scope uint64
	psns  [remembered]packet.PSN
	n     uint8 // 0: nothing, the flow is not noted
}

// flowTable holds flows by their numbers, in pages that are there while a flow in them is noted.
type flowTable struct {
	pages []*flowPage
	spare *flowPage // one that is empty
	n     int
}

const pageFlows = 256

type flowPage struct {
	slots [pageFlows]flowSlot
	n     int
}

// find returns the slot of a flow, or nil if its page is not there.
func (t *flowTable) find(flow uint32) *flowSlot {
	if i := int(flow / pageFlows); i < len(t.pages) && t.pages[i] != nil {
		return &t.pages[i].slots[flow%pageFlows]
	}
	return nil
}

// put returns the slot of a flow; the caller fills it at once if it is a new one, with n = 0.
func (t *flowTable) put(flow uint32) *flowSlot {
	i := int(flow / pageFlows)
	if i >= len(t.pages) {
		t.pages = append(t.pages, make([]*flowPage, i+1-len(t.pages))...)
	}
	if t.pages[i] == nil {
		if t.pages[i], t.spare = t.spare, nil; t.pages[i] == nil {
			t.pages[i] = new(flowPage)
		}
	}
	f := &t.pages[i].slots[flow%pageFlows]
	if f.n == 0 {
		t.pages[i].n++
		t.n++
	}
	return f
}

func (t *flowTable) remove(flow uint32) {
	p := &t.pages[flow/pageFlows]
	(*p).slots[flow%pageFlows] = flowSlot{}
	t.n--
	if (*p).n--; (*p).n == 0 {
		t.spare, *p = *p, nil
	}
}
