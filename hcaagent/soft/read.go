package soft

import (
	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/wqe"
)

// takeRead carries out a READ: it takes as many PSNs as its answer has packets. A FLUSH is answered by one without data.
func (q *queuePair) takeRead(p *packet.Packet) {
	f := p.Opcode.Fn()
	access, length := wqe.RemoteRead, p.DMALen
	s := resource{fn: f, first: p.PSN, last: p.PSN, rkey: p.RKey, va: p.VA, length: length}
	if f == packet.Flush {
		access = 0
		if p.FETH&1 != 0 {
			access = wqe.RemoteFlush
		}
		if p.FETH&2 != 0 && !q.h.has("persists-unpermitted") {
			access |= wqe.RemotePersist
		}
		if p.FETH>>4&3 == 1 { // the whole region
			length = 0
			if r := q.h.keys[p.RKey>>8]; r == nil || !r.valid || r.RKey != p.RKey || r.pd != q.pd || r.Access&access != access {
				q.refuseFatal(p, packet.NAKRemoteAccess, cq.RemAccessErr)
				return
			}
		}
	}
	if _, err := q.remote(p.RKey, p.VA, uint64(length), access); err != nil {
		q.refuseFatal(p, packet.NAKRemoteAccess, cq.RemAccessErr)
		return
	}
	n := 1
	if f == packet.ReadRequest {
		n = wqe.Packets(length, q.attr.PMTU)
		s.last = p.PSN.Add(n - 1)
	}
	q.keep(s)
	q.accepted(p, n, true)
	q.answerRead(&s, p, false)
}

// answerRead puts the answer to a READ, or to the tail of one, into the queue.
func (q *queuePair) answerRead(s *resource, p *packet.Packet, again bool) {
	a := response{kind: data, psn: p.PSN, last: s.last, fresh: true, va: p.VA, rkey: p.RKey, again: again}
	if s.fn == packet.ReadRequest {
		a.length = p.DMALen
	}
	q.respond(a)
}

// duplicate answers a request that was carried out before (section 9.7.5.1†, C9-105).
func (q *queuePair) duplicate(p *packet.Packet) {
	r := &q.rsp
	op := wqe.OpOf(p.Opcode.Fn())
	if op == wqe.None {
		return
	}
	if !op.Responded() {
		q.writesAgain(p)
		if p.AckReq {
			q.respond(response{kind: ack, psn: q.duplicateACK(p)})
		}
		return
	}
	if r.nak == sequence && q.h.breaks("duplicate-ignored") {
		return
	}
	q.withdraw(p.PSN)
	for i := range r.saved {
		s := &r.saved[i]
		if s.fn != p.Opcode.Fn() || !p.PSN.In(s.first, s.last) || s.rkey != p.RKey {
			continue
		}
		if op.Atomic() {
			q.duplicateAtomic(s, p)
		} else {
			q.duplicateRead(s, p)
		}
		return
	}
}

// duplicateACK is the PSN of the ACK to a duplicate SEND or WRITE: it does not pass over a READ or an atomic after the request.
func (q *queuePair) duplicateACK(p *packet.Packet) packet.PSN {
	psn := q.rsp.last
	for i := range q.rsp.saved {
		if s := &q.rsp.saved[i]; s.first.After(p.PSN) {
			psn = s.first.Add(-1)
			break
		}
	}
	if q.h.shows("duplicate-beyond") {
		psn = q.rsp.last.Add(1000)
	}
	return psn
}

// duplicateAtomic answers an atomic as before, and does not carry it out.
func (q *queuePair) duplicateAtomic(s *resource, p *packet.Packet) {
	if s.va != p.VA {
		return
	}
	if b, err := q.remote(p.RKey, p.VA, 8, 0); err == nil && q.h.breaks("duplicate-executed") {
		s.orig = bytes8.Uint64(b)
		bytes8.PutUint64(b, s.orig+p.SwapAdd)
		q.h.fault.show = true
	}
	q.respond(response{kind: atomic, psn: p.PSN, orig: s.orig, again: true})
}

// duplicateRead answers a READ or FLUSH, or the tail of a READ, once more.
func (q *queuePair) duplicateRead(s *resource, p *packet.Packet) {
	skip := uint64(p.PSN.Diff(s.first)) * uint64(q.pmtu())
	if p.VA != s.va+skip || uint64(p.DMALen)+skip != uint64(s.length) {
		return
	}
	if _, err := q.remote(p.RKey, p.VA, uint64(p.DMALen), 0); err == nil && !q.h.breaks("duplicate-read-dropped") {
		q.answerRead(s, p, true)
	}
}
