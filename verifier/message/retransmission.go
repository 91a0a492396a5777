package message

import (
	"hash/crc32"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/wqe"
)

// retransmission is a message that is being retransmitted.
type retransmission struct {
	next   int64 // the ordinal that goes on with it
	crc    uint32
	length uint32
}

// retransmittedPacket compares a packet that was retransmitted with the first one, while their message is not whole.
func (s *assembly) retransmittedPacket(i int, p *packet.Packet) {
	x, crc := &s.parts[i], uint32(0)
	switch read := x.op.Fn() == packet.ReadRequest; {
	case read && p.Opcode.Fn() == packet.ReadRequest:
		x.other = x.other || x.head != nil && !asks(x.head, p)
		return
	case read || p.Opcode != x.op || x.length != uint32(p.PayloadLen) || x.head != nil && !same(x.head, p):
		x.mixed, s.mixed = true, true
		s.requests.Differs(s.base + int64(i))
		return
	case x.cut || p.PayloadLen != len(p.Payload):
		return
	}
	if x.follows {
		crc = s.parts[i-1].crc
	}
	if crc32.Update(crc, crc32.IEEETable, p.Payload) != x.crc {
		x.mixed, s.mixed = true, true
		s.requests.Differs(s.base + int64(i))
	}
}

// retransmittedMessage compares a packet that was retransmitted with the message that it belongs to.
func (s *assembly) retransmittedMessage(ord int64, p *packet.Packet) {
	m := s.requests.Find(ord)
	if m == nil || m.Partial {
		return
	}
	if m.Op.Fn() == packet.ReadRequest && p.Opcode.Fn() == packet.ReadRequest {
		m.Other = m.Other || !asks(&m.Headers, p)
		return
	}
	if !fits(m, ord, p) {
		m.Mixed = true
		s.requests.Differs(m.First)
		return
	}
	same, known := s.compare(ord, p, m)
	if m.Mixed = m.Mixed || !same; !same && known {
		s.requests.Differs(m.First)
	}
}

// compare reports whether the payload of a retransmitted packet of message m is that of the original, and whether that is known.
func (s *assembly) compare(ord int64, p *packet.Packet, m *cq.Message) (same, known bool) {
	in, r := p.Info(), &s.retransmission
	switch {
	case m.Cut || p.PayloadLen != len(p.Payload):
		r.next = 0
		return true, false
	case in.First || in.Only:
		r.crc, r.length = sum(p.Payload), uint32(p.PayloadLen)
	case r.next == ord:
		r.crc, r.length = crc32.Update(r.crc, crc32.IEEETable, p.Payload), r.length+uint32(p.PayloadLen)
	default: // from its middle on
		r.next = 0
		return s.sums.compare(ord, p)
	}
	if r.next = ord + 1; in.Last || in.Only {
		return r.crc == m.CRC && r.length == m.Length, true
	}
	same, known = s.sums.compare(ord, p)
	return same || !known, known // the last one shows it as well
}

// mostSums is how many packets before the newest one can be compared with retransmissions that begin in the middle of a message which has come whole.
const mostSums = 256

// sums are the checksums of the newest packets, by their ordinals; nil: none of them was of several.
type sums []partSum

// partSum is what is kept of a packet for the time that its message has come whole.
type partSum struct {
	ord     uint32 // its lower bits
	crc     uint32 // as that of part
	follows bool
	seen    bool
}

// keep takes over the packet of an ordinal, of a message of several.
func (s *sums) keep(ord int64, x *part) {
	if *s == nil {
		*s = make(sums, mostSums)
	}
	(*s)[ord%mostSums] = partSum{uint32(ord), x.crc, x.follows, !x.cut}
}

// at is what is kept of the packet of an ordinal, nil: nothing.
func (s sums) at(ord int64) *partSum {
	if s == nil {
		return nil
	}
	if x := &s[ord%mostSums]; x.seen && x.ord == uint32(ord) {
		return x
	}
	return nil
}

// compare reports whether the payload of p is that of the packet of an ordinal, and whether that is known.
func (s sums) compare(ord int64, p *packet.Packet) (same, known bool) {
	x, crc := s.at(ord), uint32(0)
	if x == nil {
		return false, false
	}
	if x.follows {
		before := s.at(ord - 1)
		if before == nil {
			return false, false
		}
		crc = before.crc
	}
	return crc32.Update(crc, crc32.IEEETable, p.Payload) == x.crc, true
}

// fits reports whether the headers of a packet are those of its ordinal in a message.
func fits(m *cq.Message, ord int64, p *packet.Packet) bool {
	in := p.Info()
	first, last := ord == m.First, ord == m.Last()
	switch {
	case wqe.OpOf(p.Opcode.Fn()) != wqe.OpOf(m.Op.Fn()), (in.First || in.Only) != first, (in.Last || in.Only) != last:
		return false
	case first && p.Has&packet.HasRETH != 0 && (m.VA != p.VA || m.RKey != p.RKey || m.DMALen != p.DMALen):
		return false
	case p.Has&packet.HasAtomicETH != 0 && (m.VA != p.VA || m.RKey != p.RKey || m.Swap != p.SwapAdd || m.Compare != p.Compare):
		return false
	}
	return !last || extras(&m.Headers, p)
}

// asks reports whether READ request p asks for the memory that h names, or for the tail of it that is missing of the response.
func asks(h *cq.Headers, p *packet.Packet) bool {
	return p.Has&packet.HasRETH == 0 || p.RKey == h.RKey && p.VA-h.VA <= uint64(h.DMALen) && p.VA-h.VA+uint64(p.DMALen) == uint64(h.DMALen)
}

// extras reports whether the last packet has the immediate data and the key to invalidate that a message has.
func extras(h *cq.Headers, p *packet.Packet) bool {
	return h.HasImm == (p.Has&packet.HasImmDt != 0) && h.HasInv == (p.Has&packet.HasIETH != 0) && h.Imm == p.Imm && h.InvRKey == p.InvRKey
}

// same reports whether the headers of a packet say what h says.
func same(h *cq.Headers, p *packet.Packet) bool {
	x := headOf(p)
	x.Net, x.SE, x.GRH = h.Net, h.SE, h.GRH
	return x == *h
}
