package gmp

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
)

// seen is a datagram as a capture shows it.
type seen struct {
	time     int64
	from, to uint16
	sq, dq   uint32
	b        []byte
}

func (s *seen) packet(frame uint64) *packet.Packet {
	return &packet.Packet{
		Time: s.time, Frame: frame, Encap: packet.Native, Has: packet.HasLRH | packet.HasBTH | packet.HasDETH, Opcode: packet.Op(packet.UD, packet.SendOnly),
		Src: packet.LIDAddr(s.from), Dst: packet.LIDAddr(s.to), SLID: s.from, DLID: s.to, SrcQP: s.sq, DestQP: s.dq, PKey: 0xFFFF, QKey: 0x80010000,
		Payload: s.b, PayloadLen: len(s.b), ICRCState: packet.CRCGood,
	}
}

// talk makes a conversation of correct requesters with a correct subnet administrator and performance agents.
type talk struct {
	r    *rand.Rand
	now  int64
	tid  uint64
	list []seen
}

func (t *talk) say(from, to uint16, h mad.Header, rest func(b []byte)) {
	b := make([]byte, mad.Size)
	if rest != nil {
		rest(b)
	}
	if h.Encode(b) != nil {
		panic("no room")
	}
	t.now += 20_000 + t.r.Int64N(1_000_000)
	t.list = append(t.list, seen{t.now, from, to, 1, 1, b})
}

const (
	administrator = 9
	subnetPrefix  = 0xFE80 << 48
)

func (t *talk) header(c mad.Class, version uint8, m mad.Method, a mad.Attribute) mad.Header {
	return mad.Header{BaseVersion: 1, Class: c, ClassVersion: version, Method: m, TID: t.tid, Attribute: a}
}

// counters asks a port for its counters.
func (t *talk) counters(from, to uint16) {
	port := uint64(1 + t.r.IntN(2))
	data := func(answer bool) func(b []byte) {
		return func(b []byte) {
			portSelect.PutUint(b[mad.PerformanceData:], port)
			if answer {
				mad.LayoutPortCounters.Field("portXmitPkts").PutUint(b[mad.PerformanceData:], uint64(t.now/1000))
			}
		}
	}
	h := t.header(mad.ClassPerformance, 1, mad.Get, mad.AttrPortCounters)
	t.say(from, to, h, data(false))
	if t.r.IntN(8) == 0 { // the answer was late
		t.now += 5_000_000_000
		t.say(from, to, h, data(false))
	}
	h.Method = mad.GetResp
	t.say(to, from, h, data(true))
}

func gidOf(f mad.Field, b []byte, lid uint16) {
	g := packet.Addr{Hi: subnetPrefix, Lo: uint64(lid)}.Bytes()
	copy(f.Bytes(b), g[:])
}

// paths asks for the way to another port.
func (t *talk) paths(from, to uint16) {
	h := t.header(mad.ClassSubnetAdmin, 2, mad.Get, mad.AttrPathRecord)
	data := func(answer bool) func(b []byte) {
		return func(b []byte) {
			s := mad.SA{ComponentMask: 1<<2 | 1<<3 | 1<<13 | 1<<16 | 1<<17}
			_ = s.Encode(b)
			r := b[mad.SAHeaderSize:]
			gidOf(pathSGID, r, from)
			gidOf(pathDGID, r, to)
			mad.LayoutPathRecord.Field("PKey").PutUint(r, 0x7FFF)
			pathMTU.PutUint(r, 1)
			if answer {
				pathSLID.PutUint(r, uint64(from))
				pathDLID.PutUint(r, uint64(to))
				pathMTU.PutUint(r, 5)
				mad.LayoutPathRecord.Field("PKey").PutUint(r, 0xFFFF)
			}
		}
	}
	t.say(from, administrator, h, data(false))
	h.Method = mad.GetResp
	t.say(administrator, from, h, data(true))
}

// table asks for all nodes: segments, of which the network may lose some, and acknowledgements.
func (t *talk) table(from uint16) {
	h := t.header(mad.ClassSubnetAdmin, 2, mad.GetTable, mad.AttrNodeRecord)
	t.say(from, administrator, h, nil)
	n := uint32(1 + t.r.IntN(9))
	bytes := n*200 - uint32(t.r.IntN(100))
	answer := h
	answer.Method = mad.GetTableResp
	rmpp := func(typ mad.RMPPType, flags uint8, a, b uint32) func([]byte) {
		return func(m []byte) {
			r := mad.RMPP{Version: 1, Type: typ, Flags: mad.RMPPActive | flags, Data1: a, Data2: b}
			s := mad.SA{AttributeOffset: 14}
			_, _ = r.Encode(m), s.Encode(m)
			for i := mad.SAHeaderSize; typ == mad.RMPPData && i < mad.Size; i++ {
				m[i] = uint8(a)
			}
		}
	}
	send := func(k uint32) {
		flags, size := uint8(0), uint32(0)
		if k == 1 {
			flags, size = mad.RMPPFirst, bytes+20*n
		}
		if k == n {
			flags, size = flags|mad.RMPPLast, bytes-(n-1)*200+20
		}
		t.say(administrator, from, answer, rmpp(mad.RMPPData, flags, k, size))
	}
	ack := func(k, window uint32) { t.say(from, administrator, h, rmpp(mad.RMPPAck, 0, k, window)) }
	send(1)
	for k, window := uint32(1), uint32(1); k < n; {
		window = max(window, k+uint32(t.r.IntN(4))+1)
		ack(k, window)
		if t.r.IntN(5) == 0 {
			ack(k, window)
		}
		back := k
		for k < n && k < window {
			k++
			send(k)
		}
		if t.r.IntN(4) == 0 { // one was lost
			back += uint32(t.r.IntN(int(k - back)))
			for i := back + 1; i <= k; i++ {
				send(i)
			}
		}
	}
	ack(n, n+4)
}

// group joins a multicast group, and leaves it.
func (t *talk) group(from uint16) {
	h := t.header(mad.ClassSubnetAdmin, 2, mad.Set, mad.AttrMCMemberRecord)
	data := func(answer bool) func(b []byte) {
		return func(b []byte) {
			s := mad.SA{ComponentMask: maskMG | 1<<1 | maskJS}
			_ = s.Encode(b)
			r := b[mad.SAHeaderSize:]
			g := packet.Addr{Hi: 0xFF12401BFFFF0000, Lo: uint64(from) % 3}.Bytes()
			copy(mcMGID.Bytes(r), g[:])
			gidOf(mcPort, r, from)
			mcJoin.PutUint(r, 1)
			if answer {
				mcMLID.PutUint(r, 0xC000+uint64(from)%3)
			}
		}
	}
	t.say(from, administrator, h, data(false))
	h.Method = mad.GetResp
	t.say(administrator, from, h, data(true))
	t.tid++
	h.TID, h.Method = t.tid, mad.Delete
	t.say(from, administrator, h, data(false))
	h.Method = mad.DeleteResp
	t.say(administrator, from, h, data(true))
}

func conversation(r *rand.Rand) []seen {
	t := &talk{r: r, now: 1_000_000_000_000_000_000}
	for range 60 {
		t.tid++
		if r.IntN(20) == 0 { // the tools are started again, and count their transactions from the beginning
			t.tid = 1
			t.now += 10_000_000_000 + r.Int64N(20_000_000_000)
		}
		from := uint16(1 + r.IntN(4))
		switch r.IntN(4) {
		case 0:
			t.counters(administrator, from)
		case 1:
			t.paths(from, 1+from%4)
		case 2:
			t.table(from)
		case 3:
			t.group(from)
		}
	}
	return t.list
}

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
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		list := conversation(r)
		rec := run(list, all)
		if len(rec.Findings) > 0 {
			t.Fatalf("seed %d, all seen: %v %v", seed, of(rec, rule.Violation), of(rec, rule.Unproven))
		}
		// Joined in mid-stream, everything behind that seen.
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

// TestFaults: bits of a header that are changed in a conversation are noticed. Transaction ID, attribute and modifier of a request may be
// anything: its response tells, if there is one to come; and a response may have any status that is defined.
func TestFaults(t *testing.T) {
	all := func(packet.Addr, packet.Addr) bool { return true }
	list := conversation(rand.New(rand.NewPCG(1, 1)))
	for _, at := range []int{0, 3, 4, 5, 8, 15, 16, 17, 18, 19, 20, 23} { // but class, class version, class-specific
		for bit := range 8 {
			missed := 0
			for i := 20; i < 60; i++ {
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
			if len(q.table.ring) > maxOpen || len(q.table.byKey) > len(q.table.ring) || len(q.strays) > maxStrays {
				t.Fatalf("%d exchanges, %d keys, %d strays", len(q.table.ring), len(q.table.byKey), len(q.strays))
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
