package cq

import (
	"hash/crc32"

	"ibwitness/packet"
	"ibwitness/wqe"
)

// rerun is a message that is being retransmitted.
type rerun struct {
	next   int64 // the ordinal that goes on with it
	crc    uint32
	length uint32
}

// mix notes that a PSN was retransmitted with another packet, at an ordinal or in the message that begins there.
func (s *stream) mix(ord int64) {
	if !s.mixed || ord < s.mixedAt {
		s.mixed, s.mixedAt = true, ord
	}
}

// partAgain holds a packet that was retransmitted against the first one, while their message is not whole.
func (s *stream) partAgain(i int, p *packet.Packet) {
	x, crc := &s.parts[i], uint32(0)
	switch read := x.op.Fn() == packet.ReadRequest; {
	case read && p.Opcode.Fn() == packet.ReadRequest:
		x.other = x.other || x.head != nil && !x.head.asks(p)
		return
	case read || p.Opcode != x.op || x.length != uint32(p.PayloadLen) || x.head != nil && !x.head.same(p):
		x.mixed = true
		s.mix(s.base + int64(i))
		return
	case x.cut || p.PayloadLen != len(p.Payload):
		return
	}
	if x.follows {
		crc = s.parts[i-1].crc
	}
	if crc32.Update(crc, crc32.IEEETable, p.Payload) != x.crc {
		x.mixed = true
		s.mix(s.base + int64(i))
	}
}

// messageAgain holds a packet that was retransmitted against the message that it belongs to.
func (s *stream) messageAgain(ord int64, p *packet.Packet) {
	m := s.find(ord)
	if m == nil || m.partial {
		return
	}
	if m.op.Fn() == packet.ReadRequest && p.Opcode.Fn() == packet.ReadRequest {
		m.other = m.other || !m.asks(p)
		return
	}
	in := p.Info()
	first, last := ord == m.first, ord == m.last()
	if wqe.OpOf(p.Opcode.Fn()) != wqe.OpOf(m.op.Fn()) || (in.First || in.Only) != first || (in.Last || in.Only) != last || first && p.Has&packet.HasRETH != 0 && (m.va != p.VA || m.rkey != p.RKey || m.dma != p.DMALen) ||
		last && !m.extras(p) || p.Has&packet.HasAtomicETH != 0 && (m.va != p.VA || m.rkey != p.RKey || m.swap != p.SwapAdd || m.compare != p.Compare) {
		m.mixed = true
		s.mix(m.first)
		return
	}
	r := &s.rerun
	switch {
	case m.cut || p.PayloadLen != len(p.Payload):
		r.next = 0
		return
	case first:
		r.crc, r.length = sum(p.Payload), uint32(p.PayloadLen)
	case r.next == ord:
		r.crc, r.length = crc32.Update(r.crc, crc32.IEEETable, p.Payload), r.length+uint32(p.PayloadLen)
	default:
		r.next = 0
		return
	}
	if r.next = ord + 1; last && m.op.Fn() != packet.ReadRequest && (r.crc != m.crc || r.length != m.length) {
		m.mixed = true
		s.mix(m.first)
	}
}

// asks reports whether READ request p asks for the memory that h names, or for the tail of it that is missing of the response.
func (h *head) asks(p *packet.Packet) bool {
	return p.Has&packet.HasRETH == 0 || p.RKey == h.rkey && p.VA-h.va <= uint64(h.dma) && p.VA-h.va+uint64(p.DMALen) == uint64(h.dma)
}

// extras reports whether the last packet has the immediate data and the key to invalidate that a message has.
func (h *head) extras(p *packet.Packet) bool {
	return h.hasImm == (p.Has&packet.HasImmDt != 0) && h.inval == (p.Has&packet.HasIETH != 0) && h.imm == p.Imm && h.inv == p.InvRKey
}

// same reports whether the headers of a packet say what h says.
func (h *head) same(p *packet.Packet) bool {
	x := headOf(p)
	x.av, x.se, x.grh = h.av, h.se, h.grh
	return x == *h
}
