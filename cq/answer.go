package cq

import (
	"hash/crc32"
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
	if m := s.find(ord); m != nil && s.misfits(m, ord, p) || m == nil && s.strange(ord, p) {
		s.odd, s.news = append(s.odd, nak{ord, p.Syndrome, at}), true
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
	if ord >= s.base && len(s.parts) > 0 { // what is missing here has arrived, and is not retransmitted
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

// ackNames reports whether the first response that acknowledges an ordinal names it: any other may be the next after one that the
// capture has missed.
func (s *stream) ackNames(ord int64) bool {
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
	if i < len(r.pieces) && r.pieces[i].seen && (sum(p.Payload) != r.own(i) || p.OrigData != r.orig) {
		r.mixed = true
	}
	if r.whole {
		return
	}
	if !r.touched.seen() {
		r.touched = at
	}
	if i >= len(r.pieces) || r.pieces[i].seen {
		return
	}
	x := piece{length: uint32(p.PayloadLen), seen: true}
	if x.follows = i > 0 && r.pieces[i-1].seen; x.follows {
		x.crc = crc32.Update(r.pieces[i-1].crc, crc32.IEEETable, p.Payload)
	} else {
		x.crc = sum(p.Payload)
	}
	r.pieces[i] = x
	r.cut = r.cut || len(p.Payload) != p.PayloadLen
	r.seen++
	r.orig = p.OrigData
	if r.seen < m.packets {
		return
	}
	r.whole, r.at = true, at
	run := joined{}
	for _, x := range r.pieces {
		run.add(x.crc, x.length, x.follows)
		r.length += x.length
	}
	r.crc = run.sum()
}

// piece is one packet of an answer.
type piece struct {
	crc    uint32 // of the payload; where it follows, of that of the pieces before it as well
	length uint32
	seen   bool

	follows bool // the piece before it came before it
}

// own is the CRC of the payload of one packet.
func (r *answer) own(i int) uint32 {
	x := r.pieces[i]
	if x.follows {
		return apart(r.pieces[i-1].crc, x.crc, uint64(x.length))
	}
	return x.crc
}
