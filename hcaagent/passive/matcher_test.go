package passive

import (
	"testing"

	"pgregory.net/rapid"

	"ibwitness/packet"
)

func TestMatcher(t *testing.T) {
	var m Matcher
	check := func(scope uint64, psn packet.PSN, flow uint32, want bool) {
		t.Helper()
		if got, ok := m.Match(scope, psn); ok != want || ok && got != flow {
			t.Errorf("scope %d PSN %v: flow %d, %v", scope, psn, got, ok)
		}
	}
	check(1, 5, 0, false)
	m.Forget(1)
	m.Note(1, 10, 5, 7)
	check(1, 5, 10, true)
	check(1, 7, 10, true)
	check(1, 6, 0, false)
	check(2, 5, 0, false)

	m.Note(1, 11, 7, 7) // two flows expect 7
	check(1, 7, 0, false)
	check(1, 5, 10, true)
	m.Forget(10)
	check(1, 7, 11, true)
	check(1, 5, 0, false)

	for psn := range packet.PSN(4) {
		m.Note(1, 11, psn, psn)
	}
	check(1, 7, 0, false) // the fifth oldest
	m.Note(1, 11, 0, 0)   // expected already, now the newest
	m.Note(1, 11, 4, 4)
	check(1, 0, 11, true)
	check(1, 1, 0, false)

	m.Note(2, 11, 9, 0xffffff) // another scope
	check(1, 0, 0, false)
	check(2, 0xffffff, 11, true)
	if m.Len() != 1 || m.wants.n != 2 {
		t.Errorf("%d flows, %d PSNs", m.Len(), m.wants.n)
	}
}

// TestMatcherModel compares the matcher with one made of maps, with few flows, scopes and PSNs so that they meet.
func TestMatcherModel(t *testing.T) {
	type flow struct {
		scope uint64
		psns  []packet.PSN
	}
	rapid.Check(t, func(t *rapid.T) {
		var m Matcher
		model := map[uint32]*flow{}
		scopes := rapid.Uint64Range(0, 2)
		flows := rapid.Uint32Range(0, 200)
		psns := rapid.Uint32Range(0xffffe0, 0x1000020)
		expect := func(f *flow, psn packet.PSN) {
			for i, have := range f.psns {
				if have == psn {
					f.psns = append(f.psns[:i], f.psns[i+1:]...)
					break
				}
			}
			if f.psns = append(f.psns, psn); len(f.psns) > 4 {
				f.psns = f.psns[1:]
			}
		}
		for range rapid.IntRange(1, 400).Draw(t, "steps") {
			id := flows.Draw(t, "flow")
			if rapid.IntRange(0, 3).Draw(t, "forget") == 0 {
				m.Forget(id)
				delete(model, id)
			} else {
				scope, first := scopes.Draw(t, "scope"), packet.PSN(psns.Draw(t, "first"))
				last := first.Add(rapid.IntRange(0, 2).Draw(t, "more"))
				m.Note(scope, id, first, last)
				if f := model[id]; f == nil || f.scope != scope {
					model[id] = &flow{scope: scope}
				}
				first &= packet.PSNMask
				if expect(model[id], first); last != first {
					expect(model[id], last)
				}
			}
			scope, psn := scopes.Draw(t, "scope"), packet.PSN(psns.Draw(t, "psn"))&packet.PSNMask
			var want []uint32
			for id, f := range model {
				for _, p := range f.psns {
					if f.scope == scope && p == psn {
						want = append(want, id)
					}
				}
			}
			got, ok := m.Match(scope, psn)
			if ok != (len(want) == 1) || ok && got != want[0] {
				t.Fatalf("scope %d PSN %v: %d %v, want %v", scope, psn, got, ok, want)
			}
			if m.Len() != len(model) {
				t.Fatalf("%d flows, want %d", m.Len(), len(model))
			}
		}
	})
}

// TestMatcherLoad: 100,000 flows in one scope, also all with the same PSNs, and no allocation once the tables have grown.
func TestMatcherLoad(t *testing.T) {
	const flows = 100_000
	var m Matcher
	for round := range 2 {
		for f := range uint32(flows) {
			m.Note(1, f, packet.PSN(f*7), packet.PSN(f*7+3))
			m.Note(1, f, packet.PSN(f*7+4), packet.PSN(f*7+6))
		}
		for f := range uint32(flows) {
			if got, ok := m.Match(1, packet.PSN(f*7+3)); !ok || got != f {
				t.Fatalf("flow %d: %d, %v", f, got, ok)
			}
		}
		if round == 0 {
			for f := range uint32(flows) {
				m.Forget(f)
			}
			if m.flows.n != 0 || m.wants.n != 0 {
				t.Fatalf("%d flows, %d PSNs are left", m.flows.n, m.wants.n)
			}
		}
	}
	for f := range uint32(flows) {
		m.Note(1, f, 0xffff00, 0xffff03)
	}
	if _, ok := m.Match(1, 0xffff00); ok {
		t.Error("100,000 flows expect one PSN, and one of them matched")
	}
	for f := range uint32(flows - 1) {
		m.Forget(f)
	}
	if f, ok := m.Match(1, 0xffff00); !ok || f != flows-1 {
		t.Errorf("the last flow: %d, %v", f, ok)
	}
	var f uint32
	if n := testing.AllocsPerRun(1000, func() {
		f++
		m.Note(3, f%5000, packet.PSN(f), packet.PSN(f+2))
		m.Match(3, packet.PSN(f))
		m.Forget(f - 2500)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestMatcherCaptures pairs the directions of a real connection whose CM exchange is left out.
func TestMatcherCaptures(t *testing.T) {
	var m Matcher
	a := New(Options{})
	pairs := map[uint32]uint32{}
	walk(t, open(t, "rxe/cm_rc_atomic.pcap"), func(p *packet.Packet) {
		a.Management(p)
		if p.Opcode.Service() != packet.RC {
			return
		}
		side := p.Src.Lo & 1
		if in := p.Info(); in.Request {
			if _, paired := pairs[p.DestQP]; !paired {
				m.Note(side, p.DestQP, p.PSN, p.PSN)
			}
		} else if flow, ok := m.Match(1-side, p.PSN); ok {
			pairs[flow], pairs[p.DestQP] = p.DestQP, flow
			m.Forget(flow)
			m.Forget(p.DestQP)
		}
	})
	if len(pairs) != 4 || pairs[0x51] != 0x56 || pairs[0x56] != 0x51 || pairs[0x52] != 0x57 || pairs[0x57] != 0x52 {
		t.Errorf("pairs %x", pairs)
	}
}

func BenchmarkMatcher(b *testing.B) {
	const flows = 100_000
	var m Matcher
	for f := range uint32(flows) {
		for i := range uint32(4) {
			m.Note(uint64(f&1), f, packet.PSN(f*41+i), packet.PSN(f*41+i))
		}
	}
	b.ReportAllocs()
	n := uint32(4)
	for b.Loop() {
		f := n * 2654435761 % flows
		m.Note(uint64(f&1), f, packet.PSN(f*41+n), packet.PSN(f*41+n))
		m.Match(uint64(f&1), packet.PSN(f*41+n))
		n++
	}
}
