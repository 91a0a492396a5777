package gmp

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"ibwitness/internal/testkit/sample"
	"ibwitness/internal/testkit/tally"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
)

func run(list []seen, sees func(a, gid packet.Addr) bool) *rule.Recorder {
	rec := new(rule.Recorder)
	v := New(rec, sees)
	end := int64(0)
	for i := range list {
		v.Datagram(list[i].packet(uint64(i) + 1))
		end = max(end, list[i].time)
	}
	v.Finish(end)
	return rec
}

func of(rec *rule.Recorder, c rule.Class) (list []string) {
	for _, f := range rec.Findings {
		if f.Class == c {
			list = append(list, fmt.Sprintf("frame %d: %v expected %s, actual %s", f.Frame, f.Rule, f.Expected, f.Actual))
		}
	}
	return list
}

// TestInnocent: correct agents are never accused, wherever the tap is and whatever it misses. Where it misses nothing, nothing is unproven either.
func TestInnocent(t *testing.T) {
	all := func(packet.Addr, packet.Addr) bool { return true }
	none := func(packet.Addr, packet.Addr) bool { return false }
	near := func(a, _ packet.Addr) bool { return a == packet.LIDAddr(administrator) }
	for seed := range uint64(sample.Part(300, 8)) {
		r := rand.New(rand.NewPCG(seed, 1))
		list := conversation(r)
		rec := run(list, all)
		if len(rec.Findings) > 0 {
			t.Fatalf("seed %d, all seen: %v %v", seed, of(rec, rule.Violation), of(rec, rule.Unproven))
		}
		// Joined in mid-stream, everything after that seen.
		rec = run(list[r.IntN(len(list)):], all)
		if bad := of(rec, rule.Violation); len(bad) > 0 {
			t.Fatalf("seed %d, joined late: %v", seed, bad)
		}
		// Some are lost before a tap in the middle, each link on its own.
		lossy := slices.DeleteFunc(slices.Clone(list), func(seen) bool { return r.IntN(10) == 0 })
		if bad := of(run(lossy, none), rule.Violation); len(bad) > 0 {
			t.Fatalf("seed %d, lossy: %v", seed, bad)
		}
		// Near the administrator: what is sent to it and lost on the way is not seen, and not answered.
		cut := r.IntN(len(list))
		if bad := of(run(list[:cut], near), rule.Violation); len(bad) > 0 {
			t.Fatalf("seed %d, cut: %v", seed, bad)
		}
		// The directions are recorded out of order, by less than a millisecond.
		mixed, late := slices.Clone(list), r.Int64N(900_000)
		for i := range mixed {
			mixed[i].time += late * int64(mixed[i].from/administrator)
		}
		slices.SortStableFunc(mixed, func(a, b seen) int { return cmp.Compare(a.time, b.time) })
		for name, sees := range map[string]func(a, gid packet.Addr) bool{"all": all, "near": near, "none": none} {
			if bad := of(run(mixed, sees), rule.Violation); len(bad) > 0 {
				t.Fatalf("seed %d, mixed, %s: %v", seed, name, bad)
			}
		}
	}
}

// TestShards: what is found does not depend on which pairs of addresses a verifier sees beside.
func TestShards(t *testing.T) {
	none := func(packet.Addr, packet.Addr) bool { return false }
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 2))
		list := conversation(r)
		for i := range list { // faults
			if r.IntN(10) == 0 {
				list[i].b = bytes.Clone(list[i].b)
				list[i].b[r.IntN(120)] ^= 1 << r.IntN(8)
			}
		}
		one := run(list, none)
		var many []rule.Finding
		var covered [rule.NumRules]rule.Count
		for peer := range uint16(5) {
			rec := new(rule.Recorder)
			v := New(rec, none)
			for i := range list {
				if min(list[i].from, list[i].to) == peer {
					v.Datagram(list[i].packet(uint64(i) + 1))
				}
			}
			v.Finish(list[len(list)-1].time)
			many = append(many, rec.Findings...)
			for i, c := range rec.Cover {
				covered[i].Exercised += c.Exercised
			}
		}
		key := func(f rule.Finding) string { return fmt.Sprint(f.Frame, f.Rule, f.Class, f.Expected, f.Actual) }
		order := func(a, b rule.Finding) int { return cmp.Compare(key(a), key(b)) }
		slices.SortFunc(one.Findings, order)
		slices.SortFunc(many, order)
		if !slices.EqualFunc(one.Findings, many, func(a, b rule.Finding) bool { return key(a) == key(b) }) {
			t.Fatalf("seed %d: %d findings of one verifier, %d of several", seed, len(one.Findings), len(many))
		}
		for i := range covered {
			if covered[i].Exercised != one.Cover[i].Exercised {
				t.Fatalf("seed %d: %v exercised %d times by one verifier, %d by several", seed, rule.ID(i), one.Cover[i].Exercised, covered[i].Exercised)
			}
		}
	}
}

// TestTally holds what is said of conversations in which datagrams are lost, late, repeated and changed.
func TestTally(t *testing.T) {
	sample.Skip(t, tally.Whole)
	var y tally.Tally
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 3))
		var list []seen
		for _, s := range conversation(r) {
			switch r.IntN(20) {
			case 0:
				continue
			case 1:
				list = append(list, s)
			case 2, 3:
				s.b = bytes.Clone(s.b)
				at := []int{24, 64, 128, len(s.b)}[r.IntN(4)]
				s.b[r.IntN(at)] ^= 1 << r.IntN(8)
			case 4:
				s.time += []int64{1e6, 1e7, 1e9, 2e10}[r.IntN(4)]
			case 5:
				s.from, s.sq = uint16(1+r.IntN(9)), uint32(1+r.IntN(2))
			}
			list = append(list, s)
		}
		slices.SortStableFunc(list, func(a, b seen) int { return cmp.Compare(a.time, b.time) })
		near := uint16(seed % 10)
		y.Add(run(list, func(a, _ packet.Addr) bool { return near == 0 || a == packet.LIDAddr(near) }))
	}
	y.Check(t, "testdata/tally.txt")
}

// TestFaults: bits of a header that are changed in a conversation are noticed. Transaction ID, attribute and modifier of a request may be
// anything: its response tells, if there is one to come; and a response may have any status that is defined.
func TestFaults(t *testing.T) {
	all := func(packet.Addr, packet.Addr) bool { return true }
	list := conversation(rand.New(rand.NewPCG(1, 1)))
	for _, at := range []int{0, 3, 4, 5, 8, 15, 16, 17, 18, 19, 20, 23} { // but class, class version, class-specific
		for bit := range 8 {
			missed := 0
			for i := 20; i < 60; i += sample.Stride(8) {
				request := list[i].b[3]&0x80 == 0
				bad := slices.Clone(list)
				bad[i].b = bytes.Clone(list[i].b)
				bad[i].b[at] ^= 1 << bit
				if rec := run(bad, all); len(rec.Findings) > 0 {
					continue
				}
				if missed++; at == 0 || at >= 18 && at <= 19 || request && (at == 4 || at == 5) {
					t.Errorf("byte %d, bit %d: not noticed in datagram %d", at, bit, i)
				}
			}
			if missed > 28 {
				t.Errorf("byte %d, bit %d: not noticed in %d of 40 datagrams", at, bit, missed)
			}
		}
	}
}

// FuzzDatagrams feeds any datagrams between two ports: no panic, and memory stays within bounds.
func FuzzDatagrams(f *testing.F) {
	var seed []byte
	for _, s := range conversation(rand.New(rand.NewPCG(3, 3)))[:12] {
		seed = append(append(seed, uint8(s.from)&1, uint8(len(s.b)-1)), s.b...)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, b []byte) {
		rec := new(rule.Recorder)
		v := New(rec, func(a, _ packet.Addr) bool { return a == packet.LIDAddr(1) })
		now := int64(1)
		for frame := uint64(1); len(b) > 2; frame++ {
			way, n := b[0], min(int(b[1])+1, len(b)-2)
			s := seen{now, 1 + uint16(way&1), 2 - uint16(way&1), uint32(way >> 1 & 1), uint32(way >> 2 & 1), b[2 : 2+n]}
			p := s.packet(frame)
			p.PayloadLen, p.Cut = mad.Size, n < mad.Size
			v.Datagram(p)
			b = b[2+n:]
			now += int64(way) << 20
		}
		v.Finish(now)
		for _, q := range v.peers {
			if len(q.table.ring) > maxOpen || len(q.table.byKey) > len(q.table.ring) || len(q.unmatched) > maxUnmatched {
				t.Fatalf("%d exchanges, %d keys, %d strays", len(q.table.ring), len(q.table.byKey), len(q.unmatched))
			}
			for k, i := range q.table.byKey {
				if q.table.ring[i].key != k {
					t.Fatalf("%v is at the place of %v", q.table.ring[i].key, k)
				}
			}
		}
	})
}

// TestAllocations: an exchange that repeats allocates nothing.
func TestAllocations(t *testing.T) {
	v := New(new(rule.Recorder), func(packet.Addr, packet.Addr) bool { return false })
	b := make([]byte, mad.Size)
	h := mad.Header{BaseVersion: 1, Class: mad.ClassPerformance, ClassVersion: 1, Method: mad.Get, Attribute: mad.AttrPortCounters}
	s, a := seen{time: 1, from: 1, to: 2, sq: 1, dq: 1, b: b}, seen{time: 1, from: 2, to: 1, sq: 1, dq: 1, b: b}
	p, q := s.packet(1), a.packet(2)
	one := func() {
		h.TID++
		p.Time += 20_000_000_000
		q.Time = p.Time + 1000
		h.Method = mad.Get
		_ = h.Encode(b)
		v.Datagram(p)
		h.Method = mad.GetResp
		_ = h.Encode(b)
		v.Datagram(q)
	}
	for range 100 {
		one()
	}
	if n := testing.AllocsPerRun(1000, one); n > 0 {
		t.Errorf("%v allocations for a request and its response", n)
	}
}

// TestManyPairs: of more pairs than are kept those go that were silent for longest, and what they left open is judged.
func TestManyPairs(t *testing.T) {
	rec := new(rule.Recorder)
	v := New(rec, func(packet.Addr, packet.Addr) bool { return true })
	b := make([]byte, mad.Size)
	h := mad.Header{BaseVersion: 1, Class: mad.ClassPerformance, ClassVersion: 1, Attribute: mad.AttrPortCounters}
	frame := uint64(0)
	send := func(from, to uint16, m mad.Method) {
		frame++
		h.Method = m
		_ = h.Encode(b)
		s := seen{time: int64(frame) * 1_000_000, from: from, to: to, sq: 1, dq: 1, b: b}
		v.Datagram(s.packet(frame))
	}
	const manager, first, ports = 1, 100, 3 * maxPeers
	for port := uint16(first); port < first+ports; port++ {
		h.TID++
		send(manager, port, mad.Get)
		if port > first && port < first+ports-1 {
			send(port, manager, mad.GetResp)
		}
		if len(v.peers) > maxPeers || len(v.list) != len(v.peers) {
			t.Fatalf("%d pairs are kept, %d in the list", len(v.peers), len(v.list))
		}
	}
	h.Attribute = mad.AttrPortSamplesResult
	send(first+ports-1, manager, mad.GetResp)
	got := append(of(rec, rule.Unproven), of(rec, rule.Violation)...)
	if len(got) != 2 || rec.Findings[0].Frame != 1 || rec.Findings[1].Frame != frame {
		t.Errorf("findings: %q, not one on the port that is silent and one on what answers another request", got)
	}
}

// TestThin: of the pairs that are kept those are forgotten that have been silent for longest, not those that came first.
func TestThin(t *testing.T) {
	v := New(new(rule.Recorder), func(packet.Addr, packet.Addr) bool { return true })
	at := func(port uint16) *peer {
		v.now++
		return v.peer(packet.LIDAddr(1), packet.LIDAddr(port))
	}
	first := at(100)
	for port := uint16(101); len(v.peers) < maxPeers; port++ {
		at(port)
	}
	second := v.peers[pair{packet.LIDAddr(1), packet.LIDAddr(101)}]
	at(100)
	at(99)
	if len(v.peers) != maxPeers/2+1 {
		t.Errorf("%d pairs are kept, not half of %d and the new one", len(v.peers), maxPeers)
	}
	if v.peers[first.pair] != first {
		t.Error("the pair that came first, and spoke last, is forgotten")
	}
	if v.peers[second.pair] != nil {
		t.Error("the pair that has been silent for longest is kept")
	}
}
