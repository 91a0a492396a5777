package cq

import (
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
	data     []byte // its content from lo on, as far as it is kept; nil: only its checksums are
	number   uint64 // that an atomic put there or found, where numbered
	numbered bool
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
	places   *placed // on its pages; nil: on none
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

func (p *stored) same(o *stored) bool {
	if p.numbered && o.numbered {
		return p.number == o.number
	}
	return p.crc == o.crc || p.crc == o.alt || p.alt == o.crc
}

// MostData is the longest message whose data is kept, in bytes.
const MostData = 1 << 20

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
	kept         []*stored // of which the data is, the oldest first
	size         int       // bytes of those
	rooms        rooms     // of data of messages that is not kept any more
	looked       int       // ranges that were looked at for what others have become
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
	p *stored // what put the data there
	// want is what should have been found, where that is known; what is not is as it was found. from is what has put each byte there, nil: it is not known, or all is by p.
	want []byte
	from []*stored
	at   int // the first byte that differs, where want is known
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

	// mostBytes is how many bytes of data are kept of the memory of a device, and what it takes to keep them.
	mostBytes = 4 << 20
	keptRoom  = 256
	// mostPieces is how many ranges the data of an observation is put together of.
	mostPieces = 256
)

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
	if len(e.Data) == int(r.Length) {
		c.keep(p, e.Data)
	}
	c.put(p)
	if c.settle(p); !e.Wrote {
		c.observations = append(c.observations, &observation{stored: *p, event: e, self: p})
	}
}

// keep keeps the data of a range. Of very many bytes those that were kept first are forgotten.
func (c *content) keep(p *stored, data []byte) {
	if len(data) == 0 || len(data) > MostData {
		return
	}
	p.data = data
	c.size += len(data) + keptRoom
	for c.kept = append(c.kept, p); c.size > mostBytes; c.kept = c.kept[1:] {
		o := c.kept[0]
		c.size -= len(o.data) + keptRoom
		if o.m != nil {
			c.rooms.add(o.data)
		}
		o.data, c.kept[0] = nil, nil
	}
}

// put adds a range. What it covers for certain is forgotten.
func (c *content) put(p *stored) {
	first, last := p.lo>>pageBits, (p.hi-1)>>pageBits
	if last-first >= mostPages {
		c.wide = append(c.wide, p)
		return
	}
	end := &p.places
	for n := first; n <= last; n++ {
		*end = c.pages.add(n, p)
		end = &(*end).also
	}
}

// settle takes over that nothing more becomes known of a range.
func (c *content) settle(p *stored) {
	for x := p.places; x != nil; x = x.also {
		if p.q == nil {
			x.on.tell(x)
		} else {
			x.on.settled = append(x.on.settled, x)
		}
	}
}

// forget drops, of what has the page of a range, what the range covers: whatever is found later does not rest on that. What is not settled yet is not before the range, but for what the
// same queue pair was told to write before.
func (c *content) forget(p *stored) {
	first, last := p.lo>>pageBits, (p.hi-1)>>pageBits
	if !p.known || p.look || p.lo == p.hi {
		return
	}
	if last-first >= mostPages {
		c.wide = slices.DeleteFunc(c.wide, p.replaces)
		return
	}
	for n := first; n <= last; n++ {
		on := c.pages.at(n)
		on.settled = on.settled[:c.forgetOf(on.settled, p)]
		k := 0
		for k < len(on.told) && on.told[k].to < p.from {
			k++
		}
		on.told = slices.Delete(on.told, c.forgetOf(on.told[:k], p), k)
	}
	for _, o := range p.q.receiving.stored.all() {
		if o != nil && o.ord >= p.ord {
			break
		}
		if o != nil && p.replaces(o) {
			c.takeOff(o)
		}
	}
	for i := range p.q.in.storing {
		if o := p.q.in.storing[i].stored; p.replaces(o) {
			c.takeOff(o)
		}
	}
}

// forgetOf drops, of a list of a page, what a range covers, and returns how many are left.
func (c *content) forgetOf(list []*placed, p *stored) (left int) {
	c.looked += len(list)
	for i, x := range list {
		list[i] = nil
		if p.replaces(x.stored) {
			c.pages.remove(x)
			continue
		}
		list[left] = x
		left++
	}
	return left
}

// takeOff takes a range off all of its pages.
func (c *content) takeOff(p *stored) {
	for x := p.places; x != nil; {
		also := x.also
		c.pages.remove(x)
		x = also
	}
	p.places = nil
}

// replaces reports whether nothing is left of a range where p has been put.
func (p *stored) replaces(o *stored) bool {
	return o != p && o.lo >= p.lo && o.hi <= p.hi && o.before(p)
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
