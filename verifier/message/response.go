package message

import (
	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/wqe"
)

// response adds an answer to the requests.
func (s *assembly) response(p *packet.Packet, at *cq.PacketRef) {
	if !s.requests.Started() {
		return
	}
	s.requests.Response(at)
	ord := s.requests.Ordinal(p.PSN)
	if ord >= s.requests.High() {
		s.requests.Unusual(ord)
		if p.Opcode.Fn() != packet.Acknowledge || p.Syndrome.Type() != packet.ACK {
			ord--
		}
		s.requests.AcknowledgedAhead(ord, at)
		return
	}
	switch m := s.requests.Find(ord); {
	case m != nil && s.misfits(m, ord, p), m == nil && s.strange(ord, p):
		s.requests.Misfit(cq.NAK{Ord: ord, Syndrome: p.Syndrome, At: *at})
	case m != nil && m.Response != nil && s.unusual(m, ord, p):
		s.requests.Unusual(ord)
	}
	if p.Opcode.Fn() != packet.Acknowledge {
		s.acknowledged(ord-1, at, false)
		s.data(ord, p, at)
		return
	}
	if p.Syndrome.Type() == packet.ACK {
		s.acknowledged(ord, at, true)
		return
	}
	s.acknowledged(ord-1, at, false)
	s.requests.Refused(cq.NAK{Ord: ord, Syndrome: p.Syndrome, At: *at})
}

// acknowledged says that everything up to an ordinal is acknowledged.
func (s *assembly) acknowledged(ord int64, at *cq.PacketRef, named bool) {
	s.requests.Acknowledged(ord, at, named)
	if ord >= s.base && len(s.parts) > 0 { // what is missing here has arrived, and is not retransmitted
		n := min(int(ord-s.base)+1, len(s.parts))
		for n > 0 && s.parts[n-1].seen {
			n--
		}
		if n > 0 {
			s.settle(n)
			s.tellWhole()
		}
	}
}

// data adds a READ response or the result of an atomic.
func (s *assembly) data(ord int64, p *packet.Packet, at *cq.PacketRef) {
	m := s.requests.Find(ord)
	if m == nil || m.Response == nil {
		return
	}
	r := m.Response
	if s.misfits(m, ord, p) {
		r.Mixed = true
		return
	}
	i := int(ord - m.First)
	if i < len(r.Packets) && r.Packets[i].Seen {
		repeat(r, i, p)
	}
	if r.Whole {
		return
	}
	if !r.Begin.Seen() {
		r.Begin = *at
		s.requests.Answered()
	}
	if i >= len(r.Packets) || r.Packets[i].Seen {
		return
	}
	s.place(r, i, p)
	if m.Op.Fn() == packet.ReadRequest && s.requests.KeepsData() {
		s.keepResponse(m, i, p, at)
	}
	r.Cut = r.Cut || len(p.Payload) != p.PayloadLen
	r.Seen++
	r.Orig = p.OrigData
	if r.Seen == m.Packets {
		s.answered(r, at)
	}
}

// place sets packet i of a response, with the CRC of its payload, or of all up to it where it follows.
func (s *assembly) place(r *cq.Response, i int, p *packet.Packet) {
	x := &r.Packets[i]
	x.Length, x.Seen = uint32(p.PayloadLen), true
	before := uint32(0)
	if i > 0 && r.Packets[i-1].Seen {
		x.Follows, before = true, r.Packets[i-1].CRC
	}
	x.CRC = s.carried.sum(before, p, p.Payload)
}

// answered ends a response whose packets have all come.
func (s *assembly) answered(r *cq.Response, at *cq.PacketRef) {
	r.Whole, r.At = true, *at
	s.requests.Answered()
	run := joined{}
	for _, x := range r.Packets {
		run.add(x.CRC, x.Length, x.Follows)
		r.Length += x.Length
	}
	r.CRC = run.sum()
}

// repeat takes over that packet i of a response, which has come, has come once more.
func repeat(r *cq.Response, i int, p *packet.Packet) {
	x := &r.Packets[i]
	switch {
	case sum(p.Payload) != own(r, i) || p.OrigData != r.Orig:
		r.Mixed = true
	case !x.Again:
		x.Again = true
		r.Repeated++
	}
}

// keepResponse keeps the payload of packet i of the response to a READ. Of one whose first packets were not kept it keeps nothing.
func (s *assembly) keepResponse(m *cq.Message, i int, p *packet.Packet, at *cq.PacketRef) {
	r := m.Response
	if r.Seen == 0 && m.DMALen <= cq.MostData {
		r.Data, r.Refs = make([]byte, m.DMALen), make([]cq.PacketRef, m.Packets)
	}
	if r.Data == nil || len(p.Payload) != p.PayloadLen {
		r.Data, r.Refs = nil, nil
		return
	}
	copy(r.Data[uint32(i)*s.requests.PMTU():], p.Payload)
	r.Refs[i] = *at
}

// own is the CRC of the payload of one packet.
func own(r *cq.Response, i int) uint32 {
	x := r.Packets[i]
	if x.Follows {
		return apart(r.Packets[i-1].CRC, x.CRC, uint64(x.Length))
	}
	return x.CRC
}

// misfits reports whether a response cannot be the one of its PSN to a request, as far as its opcode and length tell.
func (s *assembly) misfits(m *cq.Message, ord int64, p *packet.Packet) bool {
	f := p.Opcode.Fn()
	switch {
	case f == packet.Acknowledge:
		return p.Syndrome.Reserved()
	case m.Response == nil:
		return true
	case m.Op.Fn() == packet.CmpSwap || m.Op.Fn() == packet.FetchAdd:
		return f != packet.AtomicAck
	case f == packet.AtomicAck:
		return true
	case m.Op.Fn() != packet.ReadRequest:
		return f != packet.ReadRespOnly || p.PayloadLen != 0
	case s.requests.PMTU() == 0:
		return false
	}
	n := m.DMALen - uint32(ord-m.First)*s.requests.PMTU()
	last := f == packet.ReadRespLast || f == packet.ReadRespOnly
	return last != (ord == m.Last()) || uint32(p.PayloadLen) != min(n, s.requests.PMTU())
}

// unusual reports whether a response to a READ or an atomic is such that the requester may find that it does not fit the request, though it may: by its place, its syndrome, or as
// one before it is missing.
func (s *assembly) unusual(m *cq.Message, ord int64, p *packet.Packet) bool {
	f, i := p.Opcode.Fn(), int(ord-m.First)
	switch {
	case f == packet.Acknowledge:
		return p.Syndrome.Type() == packet.ACK // it does not replace the response
	case p.Has&packet.HasAETH != 0 && p.Syndrome.Type() != packet.ACK:
		return true
	case f == packet.AtomicAck:
		return p.PayloadLen > 0
	case i > 0 && i < len(m.Response.Packets) && (!m.Response.Packets[i-1].Seen || m.Response.Packets[i].Seen):
		return true
	}
	begins := f == packet.ReadRespFirst || f == packet.ReadRespOnly
	return begins != (i == 0 || s.requests.WasRetransmitted(ord))
}

// strange is misfits for a message of which the last packet has not been seen.
func (s *assembly) strange(ord int64, p *packet.Packet) bool {
	i := ord - s.base
	if i < 0 || i >= int64(len(s.parts)) || !s.parts[i].seen {
		return false
	}
	if p.Opcode.Fn() == packet.Acknowledge {
		return p.Syndrome.Reserved()
	}
	return !wqe.OpOf(s.parts[i].op.Fn()).Responded()
}
