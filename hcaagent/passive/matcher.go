package passive

import "ibwitness/packet"

// remembered is how many expected PSNs are kept of each flow.
const remembered = 4

// Matcher finds the two directions of a connection that was set up without CM: a response carries the PSN that a request of the other
// direction expects. A flow is one direction; its scope names the unordered pair of hosts, the direction and the service, and flows
// of other scopes are never mixed.
//
// Each call takes constant time, and memory grows only with the number of flows noted and not yet forgotten: about 330 bytes each.
// The zero value is ready for use. It is not safe for concurrent use.
type Matcher struct {
	flows flowTable
	wants wantTable
}

// Note says that a flow expects a response: an acknowledge with PSN last, or a READ response or ATOMIC acknowledge with PSN first.
// The newest four PSNs of a flow count. A flow that is noted in another scope starts anew.
func (m *Matcher) Note(scope uint64, flow uint32, first, last packet.PSN) {
	f := m.flows.put(flow)
	if f.n > 0 && f.scope != scope {
		m.release(f)
		f.n = 0
	}
	f.scope = scope
	m.expect(f, first&packet.PSNMask)
	if last &= packet.PSNMask; last != first&packet.PSNMask {
		m.expect(f, last)
	}
}

// Match returns the one flow of the scope that expects a response with this PSN. Where two expect it, neither is returned.
func (m *Matcher) Match(scope uint64, psn packet.PSN) (flow uint32, ok bool) {
	w := m.wants.get(scope, psn&packet.PSNMask)
	if w == nil || w.n != 1 {
		return 0, false
	}
	return w.flows, true
}

// Forget drops what a flow expects: it is paired, or gone.
func (m *Matcher) Forget(flow uint32) {
	i, ok := m.flows.find(flow)
	if !ok {
		return
	}
	m.release(&m.flows.slots[i])
	m.flows.remove(i)
}

// Len returns how many flows are noted and not forgotten.
func (m *Matcher) Len() int { return m.flows.n }

func (m *Matcher) release(f *flowSlot) {
	for _, psn := range f.psns[:f.n] {
		m.wants.take(f.scope, psn, f.flow)
	}
}

func (m *Matcher) expect(f *flowSlot, psn packet.PSN) {
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
		m.wants.take(f.scope, f.psns[0], f.flow)
		copy(f.psns[:], f.psns[1:])
		f.n--
	}
	f.psns[f.n] = psn
	f.n++
	m.wants.add(f.scope, psn, f.flow)
}
