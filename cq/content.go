package cq

import (
	"encoding/binary"
	"math"
	"sort"

	"ibwitness/hcaagent"
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
	seen     int64 // when the consumer was told of a later message to the same queue pair
	m        *message
}

// sight is what a READ, an atomic or the consumer found in a range.
type sight struct {
	stored
	read  bool
	event *hcaagent.Event
	self  int // index of its own range, or -1
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

// memoryOf is what is known of the memory of a device.
type memoryOf struct {
	pieces []stored
	sights []sight
	pages  map[uint64][]int32
	wide   []int32
	latest map[uint64][]int64 // by page, of the pieces up to each: the latest end
}

// settled is how long after its acknowledgement a WRITE must be in memory at the latest: before, its consumer sees it for certain only when
// it is told of a later message.
const settled = 10_000_000

// never is the time of what has not happened.
const never = math.MaxInt64 / 2

const (
	pageBits  = 12
	mostPages = 64
	mostSteps = 4096 // pieces that are looked through for one sight
)

// remember collects what the events and the messages of a device tell of its memory. It reports false where that is not all.
func (a *Agent) remember(s *Source) (*memoryOf, bool) {
	c := &memoryOf{}
	for _, q := range a.lives {
		if q.src != s {
			continue
		}
		if !q.known || !c.messages(q) {
			return nil, false
		}
		for _, w := range q.sends {
			if op := w.req().Op; op == wqe.OpRead || op == wqe.OpCmpSwap || op == wqe.OpFetchAdd {
				c.local(w.req().Segments, w.event.Time)
			}
		}
		if !q.recvs.shared {
			c.received(q.recvs)
		}
	}
	for _, r := range s.shared {
		c.received(r)
	}
	for n, e := range s.memories {
		r := e.Region
		p := stored{lo: r.VA, hi: r.VA + r.Length, from: e.Time, to: e.Time, crc: e.Sum, alt: e.Sum, known: true, look: !e.Wrote, idle: !e.Wrote, n: n}
		if !e.Wrote {
			c.sights = append(c.sights, sight{stored: p, event: e, self: len(c.pieces)})
		}
		c.pieces = append(c.pieces, p)
	}
	return c, true
}

// local adds memory that the device writes into at an unknown time.
func (c *memoryOf) local(list []wqe.Segment, from int64) {
	for _, g := range list {
		if g.Length > 0 {
			c.pieces = append(c.pieces, stored{lo: g.VA, hi: g.VA + uint64(g.Length), from: from, to: never})
		}
	}
}

func (c *memoryOf) received(r *receives) {
	for _, x := range r.list {
		c.local(x.event.Receive.Segments, x.event.Time)
	}
}

// messages adds what the requests to a queue pair do to memory. It reports false where the capture may lack some.
func (c *memoryOf) messages(q *queuePair) bool {
	if !q.in.first.seen() || q.service() > 1 && !q.reliable() {
		return true
	}
	if !q.in.anchor || q.in.joined > 0 || q.in.halted != "" {
		return false
	}
	told := q.toldOf()
	next := int64(0)
	for i := range q.in.msgs {
		m := q.in.msgs[i]
		if _, acked := q.in.ackOf(m.first); q.reliable() && m.first != next && acked {
			return false
		}
		next = m.last() + 1
		if r := q.src.regions[m.rkey]; r != nil && r.access&wqe.ZeroBased != 0 {
			return false
		}
		c.message(q, m, told)
	}
	return true
}

// toldOf returns when the consumer was told of each message that takes a receive request, by ordinal.
func (q *queuePair) toldOf() (list []told1) {
	for _, t := range q.taken {
		if t.message != nil {
			list = append(list, told1{t.message.first, t.event.Time})
		}
	}
	return list
}

type told1 struct{ ord, time int64 }

func (c *memoryOf) message(q *queuePair, m *message, told []told1) {
	op := wqe.OpOf(m.op.Fn())
	p := stored{lo: m.va, hi: m.va + uint64(m.dma), from: m.begin.time, to: never, seen: never, q: q, ord: m.first, m: m}
	done := int64(never)
	if at, ok := q.in.ackOf(m.last()); ok {
		done = at.time
	}
	refused := q.in.refused(m) != nil
	if op == wqe.Write || op == wqe.AtomicWrite {
		if i := sort.Search(len(told), func(i int) bool { return told[i].ord > m.first || m.hasImm && told[i].ord == m.first }); i < len(told) {
			p.seen = told[i].time
		}
	}
	switch op {
	case wqe.Write:
		if p.write = true; q.reliable() && !m.partial && !m.cut && !m.mixed && !refused && m.length == m.dma {
			p.known, p.crc, p.alt, p.to = true, m.crc, m.crc, done
		}
		if p.known {
			p.to = min(p.to, p.seen)
		}
	case wqe.AtomicWrite:
		p.hi = p.lo + 8
		if m.read != nil && m.read.touched.seen() && !m.cut && m.length == 8 {
			p.write, p.known, p.crc, p.alt, p.to = true, true, m.crc, m.crc, m.read.touched.time
		}
	case wqe.CmpSwap, wqe.FetchAdd:
		p.hi, p.atomic = p.lo+8, true
		if m.read == nil || !m.read.whole || m.read.mixed {
			break
		}
		p.to = m.read.at.time
		found := p
		found.set(m.read.orig)
		c.sights = append(c.sights, sight{stored: found, self: len(c.pieces)})
		v := m.read.orig + m.swap
		if op == wqe.CmpSwap {
			if v = m.read.orig; v == m.compare {
				v = m.swap
			}
		}
		p.set(v)
	case wqe.Read:
		if m.read != nil && m.read.whole && !m.read.mixed && !m.read.cut && !m.other && m.dma > 0 {
			p.crc, p.alt, p.known, p.to = m.read.crc, m.read.crc, true, m.read.at.time
			c.sights = append(c.sights, sight{stored: p, read: true, self: -1})
		}
		return
	default:
		return
	}
	if p.hi > p.lo {
		c.pieces = append(c.pieces, p)
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

// order makes the index: pieces by page, in the order of their beginnings.
func (c *memoryOf) order() {
	order := make([]int32, len(c.pieces))
	for i := range order {
		order[i] = int32(i)
	}
	sort.SliceStable(order, func(i, k int) bool { return c.pieces[order[i]].from < c.pieces[order[k]].from })
	c.pages, c.latest = map[uint64][]int32{}, map[uint64][]int64{}
	for _, i := range order {
		p := &c.pieces[i]
		first, last := p.lo>>pageBits, (p.hi-1)>>pageBits
		if last-first >= mostPages {
			c.wide = append(c.wide, i)
			continue
		}
		for n := first; n <= last; n++ {
			end := p.to
			if k := len(c.latest[n]); k > 0 {
				end = max(end, c.latest[n][k-1])
			}
			c.pages[n], c.latest[n] = append(c.pages[n], i), append(c.latest[n], end)
		}
	}
	sort.SliceStable(c.sights, func(i, k int) bool { return c.sights[i].from < c.sights[k].from })
}

// source returns what put the data there that a sight shows, or nil where that is not certain. quiet says that nothing else happens there at that time.
func (c *memoryOf) source(x *sight) (newest *stored, quiet bool) {
	first, last := x.lo>>pageBits, (x.hi-1)>>pageBits
	if last-first >= mostPages {
		return nil, false
	}
	var all []*stored
	add := func(i int32) bool {
		p := &c.pieces[i]
		if p.look && (p.idle || p.lo != x.lo || p.hi != x.hi) || p.hi <= x.lo || p.lo >= x.hi || p.from > x.to || int(i) == x.self || x.atomic && p.q == x.q && p.ord > x.ord {
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
	for _, i := range c.wide {
		if !add(i) {
			return nil, false
		}
	}
	steps := 0
	for n := first; n <= last; n++ {
		list, latest := c.pages[n], c.latest[n]
		for k := sort.Search(len(list), func(k int) bool { return c.pieces[list[k]].from > x.to }) - 1; k >= 0; k-- {
			if newest != nil && newest.lo <= x.lo && newest.hi >= x.hi && latest[k] < newest.from {
				break
			}
			if steps++; steps > mostSteps || !add(list[k]) {
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
