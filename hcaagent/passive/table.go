package passive

import "ibwitness/packet"

// Both tables are open addressing with linear probing, at most three quarters full; a removed slot is filled from behind, so that no
// probe passes over the dead.

const minSlots = 64

// sparse is how many times larger than its content a table is when it shrinks: most flows are paired soon after they are noted.
const sparse = 16

// mix spreads a key over 64 bits, the same in every run.
func mix(h uint64) uint64 {
	h ^= h >> 32
	h *= 0x9e3779b97f4a7c15
	h ^= h >> 29
	h *= 0xbf58476d1ce4e5b9
	return h ^ h>>32
}

// wantSlot counts the flows that expect a PSN in a scope. flows is the exclusive or of their numbers: with n = 1 it is the flow.
type wantSlot struct {
	scope uint64
	psn   packet.PSN
	n     uint32 // 0: empty
	flows uint32
}

type wantTable struct {
	slots []wantSlot
	n     int
}

func wantHash(scope uint64, psn packet.PSN) int { return int(mix(mix(scope)+uint64(psn)) >> 1) }

// find returns the slot of a PSN, or the empty one where it belongs. The table must have slots.
func (t *wantTable) find(scope uint64, psn packet.PSN) int {
	mask := len(t.slots) - 1
	for i := wantHash(scope, psn) & mask; ; i = (i + 1) & mask {
		if w := &t.slots[i]; w.n == 0 || w.psn == psn && w.scope == scope {
			return i
		}
	}
}

func (t *wantTable) get(scope uint64, psn packet.PSN) *wantSlot {
	if t.n == 0 {
		return nil
	}
	if w := &t.slots[t.find(scope, psn)]; w.n > 0 {
		return w
	}
	return nil
}

func (t *wantTable) add(scope uint64, psn packet.PSN, flow uint32) {
	if 4*(t.n+1) > 3*len(t.slots) {
		t.resize(max(minSlots, 2*len(t.slots)))
	}
	w := &t.slots[t.find(scope, psn)]
	if w.n == 0 {
		t.n++
	}
	*w = wantSlot{scope: scope, psn: psn, n: w.n + 1, flows: w.flows ^ flow}
}

func (t *wantTable) resize(size int) {
	old := t.slots
	t.slots = make([]wantSlot, size)
	for _, w := range old {
		if w.n > 0 {
			t.slots[t.find(w.scope, w.psn)] = w
		}
	}
}

func (t *wantTable) take(scope uint64, psn packet.PSN, flow uint32) {
	i := t.find(scope, psn)
	w := &t.slots[i]
	w.n--
	w.flows ^= flow
	if w.n > 0 {
		return
	}
	t.n--
	mask := len(t.slots) - 1
	for j := (i + 1) & mask; t.slots[j].n > 0; j = (j + 1) & mask {
		if home := wantHash(t.slots[j].scope, t.slots[j].psn) & mask; (j-home)&mask >= (j-i)&mask {
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
	flow  uint32
	psns  [remembered]packet.PSN
	n     uint8 // 0: empty
}

type flowTable struct {
	slots []flowSlot
	n     int
}

func flowHash(flow uint32) int { return int(mix(uint64(flow)) >> 1) }

func (t *flowTable) probe(flow uint32) int {
	mask := len(t.slots) - 1
	for i := flowHash(flow) & mask; ; i = (i + 1) & mask {
		if f := &t.slots[i]; f.n == 0 || f.flow == flow {
			return i
		}
	}
}

func (t *flowTable) find(flow uint32) (int, bool) {
	if t.n == 0 {
		return 0, false
	}
	i := t.probe(flow)
	return i, t.slots[i].n > 0
}

// put returns the slot of a flow, a new one with n = 0; the caller fills it at once.
func (t *flowTable) put(flow uint32) *flowSlot {
	if i, ok := t.find(flow); ok {
		return &t.slots[i]
	}
	if 4*(t.n+1) > 3*len(t.slots) {
		t.resize(max(minSlots, 2*len(t.slots)))
	}
	t.n++
	f := &t.slots[t.probe(flow)]
	*f = flowSlot{flow: flow}
	return f
}

func (t *flowTable) resize(size int) {
	old := t.slots
	t.slots = make([]flowSlot, size)
	for _, f := range old {
		if f.n > 0 {
			t.slots[t.probe(f.flow)] = f
		}
	}
}

func (t *flowTable) remove(i int) {
	t.n--
	mask := len(t.slots) - 1
	for j := (i + 1) & mask; t.slots[j].n > 0; j = (j + 1) & mask {
		if home := flowHash(t.slots[j].flow) & mask; (j-home)&mask >= (j-i)&mask {
			t.slots[i] = t.slots[j]
			i = j
		}
	}
	t.slots[i] = flowSlot{}
	if len(t.slots) > minSlots && t.n*sparse < len(t.slots) {
		t.resize(len(t.slots) / 2)
	}
}
