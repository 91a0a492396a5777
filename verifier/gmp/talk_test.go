package gmp

import (
	"math/rand/v2"

	"ibwitness/mad"
	"ibwitness/packet"
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
