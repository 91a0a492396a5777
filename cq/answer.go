package cq

import (
	"sort"

	"ibwitness/packet"
)

// response adds an answer to the requests.
func (s *stream) response(p *packet.Packet, at where) {
	if !s.started {
		return
	}
	if !s.answer.seen() {
		s.answer = at
	}
	s.replied = at
	ord := s.ordinal(p.PSN)
	if ord >= s.high {
		return
	}
	if m := s.find(ord); m != nil && s.misfits(m, ord, p) {
		s.odd = append(s.odd, nak{ord, p.Syndrome, at})
	}
	if p.Opcode.Fn() != packet.Acknowledge {
		s.acked(ord-1, at, false)
		s.data(ord, p, at)
		return
	}
	if p.Syndrome.Type() == packet.ACK {
		s.acked(ord, at, true)
		return
	}
	s.acked(ord-1, at, false)
	s.naks = append(s.naks, nak{ord, p.Syndrome, at})
}

func (s *stream) acked(ord int64, at where, named bool) {
	if n := len(s.acks); n == 0 && ord >= 0 || n > 0 && ord > s.acks[n-1].ord {
		s.acks = append(s.acks, ack{ord, at, named})
	}
	if ord >= s.base && len(s.parts) > 0 { // what is missing here has arrived, and does not come again
		n := min(int(ord-s.base)+1, len(s.parts))
		for n > 0 && s.parts[n-1].seen {
			n--
		}
		if n > 0 {
			s.settle(n)
			s.fold()
		}
	}
}

// ackOf returns the first response that acknowledges an ordinal.
func (s *stream) ackOf(ord int64) (where, bool) {
	i := sort.Search(len(s.acks), func(i int) bool { return s.acks[i].ord >= ord })
	if i == len(s.acks) {
		return where{}, false
	}
	return s.acks[i].at, true
}

// answersAlone reports whether the first response that acknowledges an ordinal names it: any other may be the next after one that the
// capture has missed.
func (s *stream) answersAlone(ord int64) bool {
	i := sort.Search(len(s.acks), func(i int) bool { return s.acks[i].ord >= ord })
	return i < len(s.acks) && s.acks[i].ord == ord && s.acks[i].named
}

// data adds a READ response or the result of an atomic.
func (s *stream) data(ord int64, p *packet.Packet, at where) {
	m := s.find(ord)
	if m == nil || m.read == nil || s.misfits(m, ord, p) {
		return
	}
	r := m.read
	i := int(ord - m.first)
	if i < len(r.crcs) && (r.whole || r.lens[i] != 0) && sum(p.Payload) != r.crcs[i] {
		r.mixed = true
	}
	if r.whole {
		return
	}
	if !r.touched.seen() {
		r.touched = at
	}
	if i >= len(r.lens) || r.lens[i] != 0 {
		return
	}
	r.crcs[i], r.lens[i] = sum(p.Payload), uint32(p.PayloadLen)+1
	r.cut = r.cut || len(p.Payload) != p.PayloadLen
	r.seen++
	r.orig = p.OrigData
	if r.seen < m.packets {
		return
	}
	r.whole, r.at = true, at
	for i := range r.lens {
		n := r.lens[i] - 1
		if i == 0 {
			r.crc = r.crcs[0]
		} else {
			r.crc = join(r.crc, r.crcs[i], uint64(n))
		}
		r.length += n
	}
	r.lens = nil
}
