package message

import (
	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/verifier/outgoing"
	"ibwitness/wqe"
)

// within takes a packet within a message of RC, where it comes next, all packets of the message so far have come in their order, and it is as its work request lets expect: nearly all packets of
// long messages are. It reports whether it did; where not, packet does, and nothing has changed. It does what that does for such a packet, and needs no more of it than Glance sets.
func (v *Verifier) within(p *packet.Packet) bool {
	const solicited = 1 << 55 // of the BTH
	if p.Opcode != packet.Op(packet.RC, packet.WriteMiddle) && p.Opcode != packet.Op(packet.RC, packet.SendMiddle) ||
		!p.Usual || p.ICRCState != packet.CRCGood || p.Flaws != 0 || p.PadCnt != 0 || p.BTH()&solicited != 0 {
		return false
	}
	v.refer(p)
	route := v.queues.Route(&v.flow, p.PSN, p.Time)
	if route == nil {
		return true
	}
	if !route.Quiet() {
		return false
	}
	list, payload := route.Requests(false), p.Body()
	for _, r := range list {
		s, ok := r.Assembler().(*assembly)
		if !ok || !s.comesNext(p) {
			return false
		}
		if i, ok := v.queues.Posted(r, r.High(), p.PayloadLen, &s.posted); ok && !outgoing.Within(&s.posted, i, p, payload) {
			return false
		}
	}
	for _, r := range list {
		r.Assembler().(*assembly).goesOn(p, &v.at, payload)
	}
	v.queues.Within(route, &v.at)
	return true
}

// comesNext reports whether a packet is the next one, and of a message whose packets so far have come in their order.
func (s *assembly) comesNext(p *packet.Packet) bool {
	n, r := len(s.parts), s.requests
	if n == 0 || n > window || s.base+int64(n) != r.High() || p.PSN != r.Next() || r.Unreliable() {
		return false
	}
	x := &s.parts[n-1]
	return x.run > 0 && !x.cut && !x.op.Info().Last
}

// goesOn is request for a packet of which comesNext holds.
func (s *assembly) goesOn(p *packet.Packet, at *cq.PacketRef, payload []byte) {
	r, n := s.requests, len(s.parts)
	ord := r.High()
	s.parts = append(s.parts, part{})
	before, x := &s.parts[n-1], &s.parts[n]
	x.op, x.seen, x.length, x.at = p.Opcode, true, uint32(len(payload)), *at
	x.crc, x.follows = s.carried.sum(before.crc, p, payload), true
	x.run, x.bytes, x.heads = before.run+1, before.bytes+uint32(len(payload)), before.heads
	s.keepSum(ord, x)
	if wqe.OpOf(p.Opcode.Fn()) == wqe.Write && r.KeepsData() && !s.payloads.goesOn(ord, payload) {
		s.keepPayload(ord, p, payload)
	}
	r.GoesOn(at)
}
