package passive

import (
	"unsafe"

	"ibwitness/internal/cache"
	"ibwitness/packet"
)

// remembered is how many expected PSNs are kept of each flow.
const remembered = 4

// Matcher finds the two directions of a connection that was set up without CM: a response carries the PSN that a request of the other
// direction expects. A flow is one direction, numbered from 0 on; its scope, of at most 40 bits, names the unordered pair of hosts, the
// direction and the service, and flows of other scopes are never mixed.
//
// Each call takes constant time. Memory grows with the number of flows noted and not yet forgotten, about 200 bytes each, and by 8
// bytes for each 256 numbers.
// The zero value is ready for use. It is not safe for concurrent use.
type Matcher struct {
	flows flowTable
	wants wantTable
	lines cache.Lines
}

// Note says that a flow expects a response: an acknowledge with PSN last, or a READ response or ATOMIC acknowledge with PSN first.
// The newest four PSNs of a flow count. A flow that is noted in another scope starts again.
func (m *Matcher) Note(scope uint64, flow uint32, first, last packet.PSN) {
	f := m.flows.put(flow)
	if f.n > 0 && f.scope != scope {
		m.release(flow, f)
		f.n = 0
	}
	f.scope = scope
	m.expect(flow, f, first&packet.PSNMask)
	if last &= packet.PSNMask; last != first&packet.PSNMask {
		m.expect(flow, f, last)
	}
}

// Match returns the one flow of the scope that expects a response with this PSN. Where two expect it, neither is returned.
func (m *Matcher) Match(scope uint64, psn packet.PSN) (flow uint32, ok bool) {
	w := m.wants.get(want(scope, psn&packet.PSNMask))
	if w == nil || w.n != 1 {
		return 0, false
	}
	return w.flows, true
}

// Forget drops what a flow expects: it is paired, or gone.
func (m *Matcher) Forget(flow uint32) {
	f := m.flows.find(flow)
	if f == nil || f.n == 0 {
		return
	}
	m.release(flow, f)
	m.flows.remove(flow)
}

// Ahead names the lines of the cache that Match needs of a PSN, and Note where it is the only one.
func (m *Matcher) Ahead(scope uint64, psn packet.PSN, l *cache.Lines) {
	m.wants.ahead(want(scope, psn&packet.PSNMask), l)
}

// AheadOf names the lines that Note and Forget need of a flow.
func (m *Matcher) AheadOf(flow uint32, l *cache.Lines) {
	if f := m.flows.find(flow); f != nil {
		l.Add(unsafe.Pointer(f))
	}
}

// Len returns how many flows are noted and not forgotten.
func (m *Matcher) Len() int { return m.flows.n }

func (m *Matcher) release(flow uint32, f *flowSlot) {
	for _, psn := range f.psns[:f.n] {
		m.wants.ahead(want(f.scope, psn), &m.lines)
	}
	m.lines.Fetch()
	for _, psn := range f.psns[:f.n] {
		m.wants.take(want(f.scope, psn), flow)
	}
}

func (m *Matcher) expect(flow uint32, f *flowSlot, psn packet.PSN) {
	at := 0
	for at < int(f.n) && f.psns[at] != psn {
		at++
	}
	switch {
	case at < int(f.n): // expected already: now the newest
		copy(f.psns[at:f.n], f.psns[at+1:f.n])
		f.psns[f.n-1] = psn
		return
	case f.n == remembered:
		m.wants.take(want(f.scope, f.psns[0]), flow)
		copy(f.psns[:], f.psns[1:])
		f.n--
	}
	f.psns[f.n] = psn
	f.n++
	m.wants.add(want(f.scope, psn), flow)
}
