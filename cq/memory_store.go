package cq

import (
	"encoding/binary"
	"slices"

	"ibwitness/wqe"
)

// begins takes over that messages have begun which write.
func (a *Agent) begins(q *queuePair, s *Requests) {
	follows := q.follows()
	for _, b := range s.begun {
		if follows {
			p := &stored{lo: b.VA, hi: b.VA + uint64(b.DMALen), from: b.Time, to: never, seen: never, q: q, ord: b.Ord, write: true}
			s.storing = append(s.storing, storing{q.src.content, b.Ord, p})
			if p.hi > p.lo {
				q.src.content.put(p)
			}
		}
	}
	s.begun = s.begun[:0]
}

// stored takes the range out that a message writes which begins at an ordinal, of those that had not come whole; nil: there is none.
func (s *Requests) stored(c *content, ord int64) *stored {
	for i := range s.storing {
		if x := &s.storing[i]; x.ord == ord && x.in == c {
			p := x.stored
			s.storing = slices.Delete(s.storing, i, i+1)
			return p
		}
	}
	return nil
}

// stores takes over what a message that has come whole does to memory.
func (a *Agent) stores(q *queuePair, m *Message) {
	q.src.received = true
	if !q.follows() {
		return
	}
	c := q.src.content
	if r := q.src.region(m.RKey); r != nil && r.access&wqe.ZeroBased != 0 {
		c.lost = true
		return
	}
	p := q.in.stored(c, m.First)
	op := wqe.OpOf(m.Op.Fn())
	if p == nil {
		if op != wqe.AtomicWrite && !op.Atomic() && op != wqe.Read {
			return
		}
		p = &stored{lo: m.VA, hi: m.VA + 8, from: m.Begin.Time, to: never, seen: never, q: q, ord: m.First, write: op == wqe.AtomicWrite, atomic: op.Atomic()}
		if op == wqe.Read {
			p.hi = p.lo + uint64(m.DMALen)
		} else {
			c.put(p)
		}
	}
	p.m, p.imm = m, m.HasImm
	q.receiving.stored.add(p)
	if !p.write {
		return
	}
	if list := q.receiving.unseen; len(list) == mostUnseen {
		n := copy(list, list[mostUnseen/2:])
		clear(list[n:])
		q.receiving.unseen = list[:n]
	}
	q.receiving.unseen = append(q.receiving.unseen, p)
}

// refusals counts what may have the responder refuse what it has not answered yet.
type refusals struct {
	keys    int // changes of what the R_Keys of its device permit
	invalid int // those that were invalidated
	naks    int // that end the connection
}

// storedBy takes over what has become of the ranges that messages read or write: of those that may have been answered or refused since, and of those that have come since.
func (a *Agent) storedBy(q *queuePair) {
	r := &q.receiving
	list := r.stored.all()
	if len(list) == 0 {
		return
	}
	waits, now := 0, refusals{q.src.keys, len(r.invalid), q.in.fatals}
	all := q.src.content.lost || a.ended || r.refusals != now
	for waits < len(list) && (all || !q.waits(list[waits])) {
		waits++
	}
	r.refusals = now
	fresh := max(waits, r.concluded-r.stored.first())
	a.conclusions(q, list[:waits])
	a.conclusions(q, list[fresh:])
	r.concluded = r.stored.end()
	n := 0
	for n < len(list) && list[n] == nil {
		n++
	}
	r.stored.drop(r.stored.first() + n)
}

// waits reports whether neither a message nor any after it was answered.
func (q *queuePair) waits(p *stored) bool {
	return p != nil && p.m.Last() >= 0 && q.in.ackOf(p.m.Last()) == nil && (p.m.Response == nil || !p.m.Response.Begin.Seen())
}

// conclusions takes over the answers to messages that have come, and takes those off the list that nothing more becomes known of.
func (a *Agent) conclusions(q *queuePair, list []*stored) {
	c := q.src.content
	c.looked += len(list)
	for i, p := range list {
		if p != nil && a.concluded(q, p) {
			list[i] = nil
			c.settle(p)
		}
	}
}

// unknowable reports whether it is not known what a message does to memory, as its responder must not execute it.
func (q *queuePair) unknowable(p *stored) bool {
	why, sure := q.src.refusal(p.m, q.receiving.invalid)
	return sure && why != "" || p.atomic && p.m.VA%8 != 0
}

// unexecuted reports whether a message was refused or has not come whole, or what it does is not known.
func (q *queuePair) unexecuted(p *stored) bool {
	return q.in.refused(p.m) != nil || p.m.Partial || q.unknowable(p)
}

// concluded takes over the answer to a message that reads or writes. It returns false where that is still to come.
func (a *Agent) concluded(q *queuePair, p *stored) bool {
	c, m := q.src.content, p.m
	if c.lost || q.unexecuted(p) {
		return true
	}
	at := q.in.ackOf(m.Last())
	acked := at != nil
	switch op := wqe.OpOf(m.Op.Fn()); op {
	case wqe.Write:
		if !acked {
			return !q.reliable()
		}
		if q.reliable() {
			c.acknowledged(p, at)
		}
	case wqe.AtomicWrite:
		if m.Response == nil || !m.Response.Begin.Seen() {
			return acked
		}
		if !m.Cut && !m.Mixed && m.Length == 8 {
			c.lands(p, m.Response.Begin.Time)
		}
	case wqe.CmpSwap, wqe.FetchAdd:
		if !m.Response.whole() {
			return acked
		}
		c.exchanged(p, op)
	case wqe.Read:
		if !m.Response.whole() {
			return acked
		}
		c.fetched(p)
	}
	return true
}

// acknowledged takes over that a WRITE is.
func (c *content) acknowledged(p *stored, at *PacketRef) {
	if m := p.m; !m.Cut && !m.Mixed && m.Length == m.DMALen {
		c.lands(p, min(at.Time, p.seen))
	}
}

// lands takes over that the payload of a message is in memory, from a time on at the latest.
func (c *content) lands(p *stored, from int64) {
	p.known, p.crc, p.alt, p.to = true, p.m.CRC, p.m.CRC, from
	c.keep(p, p.m.Data)
	p.m.Data = nil // the room is used again when it is not kept any more
	c.covers = append(c.covers, p)
}

// exchanged takes over what an atomic has found in memory and put there, as its response says.
func (c *content) exchanged(p *stored, op wqe.Op) {
	r := p.m.Response
	if r.Mixed {
		return
	}
	p.to = r.At.Time
	found := *p
	found.set(r.Orig)
	c.observations = append(c.observations, &observation{stored: found, self: p})
	p.set(p.m.result(op))
	c.covers = append(c.covers, p)
}

// result is what an atomic puts into memory, by what its response says that it has found there.
func (m *Message) result(op wqe.Op) uint64 {
	orig := m.Response.Orig
	switch {
	case op == wqe.FetchAdd:
		return orig + m.Swap
	case orig == m.Compare:
		return m.Swap
	}
	return orig
}

// fetched takes over what a READ has found in memory, as its response says.
func (c *content) fetched(p *stored) {
	m, r := p.m, p.m.Response
	if r.Mixed || r.Cut || m.Other || m.DMALen == 0 {
		return
	}
	p.crc, p.alt, p.known, p.to = r.CRC, r.CRC, true, r.At.Time
	x := &observation{stored: *p, read: true}
	x.data = r.Data
	c.observations = append(c.observations, x)
}

// seesStored takes over that the consumer of a queue pair was told, at a time, of a message: what came before it is in memory.
func (q *queuePair) seesStored(m *Message, now int64) {
	r := &q.receiving
	n := 0
	for n < len(r.unseen) && (r.unseen[n].ord < m.First || r.unseen[n].ord == m.First && r.unseen[n].imm) {
		p := r.unseen[n]
		if p.seen = now; p.known {
			p.to = min(p.to, now)
		}
		n++
	}
	if n > 0 {
		k := copy(r.unseen, r.unseen[n:])
		clear(r.unseen[k:])
		r.unseen = r.unseen[:k]
	}
}

// set gives the content of eight bytes as a number.
func (p *stored) set(v uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	p.crc = sum(b[:])
	binary.BigEndian.PutUint64(b[:], v)
	p.alt, p.known = sum(b[:]), true
	p.number, p.numbered = v, true
}

// DataRoom is room for n bytes of data that is kept, at most MostData; where none was used before, for as many as fresh. It is empty.
func (s *Requests) DataRoom(n, fresh int) []byte {
	if !s.KeepsData() {
		return make([]byte, 0, fresh)
	}
	return s.responder.src.content.rooms.take(n, fresh)
}

// Outgrown takes back room that DataRoom gave, and that has become too small.
func (s *Requests) Outgrown(b []byte) {
	if s.KeepsData() {
		s.responder.src.content.rooms.add(b)
	}
}

// KeepsData reports whether the data that requests bring into memory, or read there, is compared with what was put there, so that it is to be kept.
func (s *Requests) KeepsData() bool {
	return s.responder != nil && s.responder.src.content != nil && !s.responder.src.content.lost
}
