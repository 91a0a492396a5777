package cq

import (
	"encoding/binary"
	"math"
	"slices"

	"ibwitness/wqe"
)

// stored is a range of memory that a message, the consumer or the device puts data into, at some time between from and to.
type stored struct {
	lo, hi   uint64
	from, to int64
	crc, alt uint32 // of its content; alt that of a number in the other byte order
	known    bool
	look     bool       // the consumer looked: it says something only of the whole range
	idle     bool       // what it found is not known to be right
	q        *queuePair // of the request; nil: the consumer
	ord      int64
	n        int // of the consumer's event
	atomic   bool
	write    bool
	imm      bool
	reported bool  // other data was reported
	seen     int64 // when the consumer was told of a later message to the same queue pair
	m        *Message
}

// observation is what a READ, an atomic or the consumer found in a range.
type observation struct {
	stored
	read  bool
	event *Event
	self  *stored // its own range, or nil
}

// before reports whether p has certainly happened before o. Atomics are carried out in order, and so is what comes before a READ or atomic.
func (p *stored) before(o *stored) bool {
	switch {
	case p.to < o.from:
		return true
	case p.q != nil && p.q == o.q:
		return p.ord < o.ord
	}
	return p.q == nil && o.q == nil && p.known && o.known && p.n < o.n
}

func (p *stored) same(o *stored) bool { return p.crc == o.crc || p.crc == o.alt || p.alt == o.crc }

// content is what is known of the memory of a device, from the first thing on that its consumer tells of it.
type content struct {
	pages        pages
	wide         []*stored // that span many pages
	unsure       map[[2]uint64]*stored
	observations []*observation // that are not judged yet, in the order of their times
	wrong        []wrongData
	covers       []*stored // ranges that cover others: those are forgotten when what was found before is judged
	n            int       // events of the consumer
	lost         bool      // something was put there that nobody saw
	written      bool      // the consumer tells of what it writes
}

// storing is a range that a message writes which has not come whole.
type storing struct {
	in  *content
	ord int64 // of the message
	*stored
}

// wrongData is an observation of other data than there should be, which a later one may show to have been there too late.
type wrongData struct {
	x *observation
	p *stored
}

const (
	// settled is how long after its acknowledgement a WRITE must be in memory at the latest: before, its consumer sees it for certain only when
	// it is told of a later message.
	settled = 10_000_000
	// never is the time of what has not happened.
	never = math.MaxInt64 / 2

	// mostUnseen is how many WRITEs of a queue pair are kept whose consumer was told of no later message.
	mostUnseen = 1024

	pageBits    = 12
	pagesOfBook = 64
	mostPages   = 64
	mostSteps   = 4096 // ranges that are looked through for one observation
)

// pages are the ranges of each page of memory that has any.
type pages struct {
	books  map[uint64]*book
	number uint64 // of the book that was opened last
	open   *book  // nil: none was
}

// book is the ranges of some pages in a row.
type book [pagesOfBook][]*stored

// has are the ranges of a page.
func (m *pages) has(page uint64) []*stored {
	if b := m.books[page/pagesOfBook]; b != nil {
		return b[page%pagesOfBook]
	}
	return nil
}

// at is where the ranges of a page are, to be changed.
func (m *pages) at(page uint64) *[]*stored {
	if n := page / pagesOfBook; m.open == nil || m.number != n {
		if m.number, m.open = n, m.books[n]; m.open == nil {
			m.open = new(book)
			m.books[n] = m.open
		}
	}
	return &m.open[page%pagesOfBook]
}

// memoryEvent takes over what the consumer found in its memory or put there.
func (a *Agent) memoryEvent(s *Source, e *Event) {
	r := e.Region
	if !s.exact || r == nil || !e.Summed || r.Length == 0 || r.VA+r.Length <= r.VA {
		return
	}
	if s.content == nil {
		s.content = &content{pages: pages{books: map[uint64]*book{}}, unsure: map[[2]uint64]*stored{}, lost: s.received}
	}
	c := s.content
	p := &stored{lo: r.VA, hi: r.VA + r.Length, from: e.Time, to: e.Time, crc: e.Sum, alt: e.Sum, known: true, look: !e.Wrote, idle: !e.Wrote, n: c.n}
	c.n++
	c.written = c.written || e.Wrote
	if c.put(p); !e.Wrote {
		c.observations = append(c.observations, &observation{stored: *p, event: e, self: p})
	}
}

// put adds a range. What it covers for certain is forgotten.
func (c *content) put(p *stored) {
	first, last := p.lo>>pageBits, (p.hi-1)>>pageBits
	if last-first >= mostPages {
		c.wide = append(c.wide, p)
		return
	}
	for n := first; n <= last; n++ {
		list := c.pages.at(n)
		*list = append(*list, p)
	}
}

// forget drops, of what has the page of a range, what the range covers: whatever is found later does not rest on that.
func (c *content) forget(p *stored) {
	first, last := p.lo>>pageBits, (p.hi-1)>>pageBits
	if !p.known || p.look || last-first >= mostPages {
		return
	}
	for n := first; n <= last; n++ {
		page := c.pages.at(n)
		list := *page
		left := list[:0]
		for _, o := range list {
			if o == p || o.lo < p.lo || o.hi > p.hi || !o.before(p) {
				left = append(left, o)
			}
		}
		clear(list[len(left):])
		*page = left
	}
}

// local adds memory that the device writes into at an unknown time.
func (s *Source) local(list []wqe.Segment, from int64) {
	c := s.content
	if c == nil {
		return
	}
	for _, g := range list {
		k := [2]uint64{g.VA, g.VA + uint64(g.Length)}
		if g.Length > 0 && c.unsure[k] == nil {
			p := &stored{lo: k[0], hi: k[1], from: from, to: never}
			c.unsure[k] = p
			c.put(p)
		}
	}
}

// follows reports whether the content of the memory of a queue pair's device is followed, and what the queue pair has received was seen.
func (q *queuePair) follows() bool {
	c := q.src.content
	if c == nil || c.lost || q.service() > 1 && !q.reliable() {
		return false
	}
	c.lost = !q.known || !q.in.anchor || q.in.joined > 0 || q.in.stopped != ""
	return !c.lost
}

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
	if r := q.src.regions[m.RKey]; r != nil && r.access&wqe.ZeroBased != 0 {
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
	q.receiving.stored = append(q.receiving.stored, p)
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

// storedBy takes over what has become of the ranges that messages read or write.
func (a *Agent) storedBy(q *queuePair) {
	r := &q.receiving
	if len(r.stored) == 0 {
		return
	}
	left := r.stored[:0]
	for _, p := range r.stored {
		if !a.concluded(q, p) {
			left = append(left, p)
		}
	}
	clear(r.stored[len(left):])
	r.stored = left
}

// concluded takes over the answer to a message that reads or writes. It returns false where that is still to come.
func (a *Agent) concluded(q *queuePair, p *stored) bool {
	c, m := q.src.content, p.m
	if c.lost {
		return true
	}
	at := q.in.ackOf(m.Last())
	acked := at != nil
	if q.in.refused(m) != nil || m.Partial {
		return true
	}
	switch op := wqe.OpOf(m.Op.Fn()); op {
	case wqe.Write:
		if !acked {
			return !q.reliable()
		}
		if q.reliable() && !m.Cut && !m.Mixed && m.Length == m.DMALen {
			p.known, p.crc, p.alt, p.to = true, m.CRC, m.CRC, min(at.Time, p.seen)
			c.covers = append(c.covers, p)
		}
	case wqe.AtomicWrite:
		if m.Response == nil || !m.Response.Begin.Seen() {
			return acked
		}
		if !m.Cut && m.Length == 8 {
			p.known, p.crc, p.alt, p.to = true, m.CRC, m.CRC, m.Response.Begin.Time
			c.covers = append(c.covers, p)
		}
	case wqe.CmpSwap, wqe.FetchAdd:
		if m.Response == nil || !m.Response.Whole {
			return acked
		}
		if m.Response.Mixed {
			return true
		}
		p.to = m.Response.At.Time
		found := *p
		found.set(m.Response.Orig)
		c.observations = append(c.observations, &observation{stored: found, self: p})
		v := m.Response.Orig + m.Swap
		if op == wqe.CmpSwap {
			if v = m.Response.Orig; v == m.Compare {
				v = m.Swap
			}
		}
		p.set(v)
		c.covers = append(c.covers, p)
	case wqe.Read:
		if m.Response == nil || !m.Response.Whole {
			return acked
		}
		if !m.Response.Mixed && !m.Response.Cut && !m.Other && m.DMALen > 0 {
			p.crc, p.alt, p.known, p.to = m.Response.CRC, m.Response.CRC, true, m.Response.At.Time
			c.observations = append(c.observations, &observation{stored: *p, read: true})
		}
	}
	return true
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
}

// shows reports whether a range may have put there what is seen.
func (x *observation) shows(p *stored) bool {
	switch {
	case p.hi <= x.lo, p.lo >= x.hi, p.from > x.to, p == x.self:
		return false
	case p.look && (p.idle || p.lo != x.lo || p.hi != x.hi):
		return false
	}
	return !x.atomic || p.q != x.q || p.ord <= x.ord
}

// source returns what put the data there that an observation shows, or nil where that is not certain. quiet says that nothing else happens there at that time.
func (c *content) source(x *observation) (newest *stored, quiet bool) {
	first, last := x.lo>>pageBits, (x.hi-1)>>pageBits
	if last-first >= mostPages {
		return nil, false
	}
	var all []*stored
	steps := 0
	add := func(p *stored) bool {
		if !x.shows(p) {
			return true
		}
		if !p.before(&x.stored) || x.event != nil && p.write && min(p.seen, p.to+settled) >= x.from {
			return false
		}
		all = append(all, p)
		if newest == nil || newest.before(p) {
			newest = p
		}
		return true
	}
	for _, p := range c.wide {
		if !add(p) {
			return nil, false
		}
	}
	for n := first; n <= last; n++ {
		for _, p := range c.pages.has(n) {
			if steps++; steps > mostSteps || !add(p) {
				return nil, false
			}
		}
	}
	for _, p := range all {
		if p != newest && !p.before(newest) {
			return nil, false
		}
	}
	if newest == nil || !newest.known || newest.lo != x.lo || newest.hi != x.hi {
		return nil, true
	}
	return newest, true
}
