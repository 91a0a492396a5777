package cq

import (
	"bytes"
	"encoding/binary"
	"slices"

	"ibwitness/wqe"
)

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

// origins are the ranges that may have put there what an observation shows.
type origins struct {
	of     *observation
	all    []*stored
	newest *stored // nil: there is none
}

// add adds a range, if it is one of them. It returns false where it has not put there for certain, before the observation, what it has.
func (o *origins) add(p *stored) bool {
	x := o.of
	if !x.shows(p) {
		return true
	}
	if !p.before(&x.stored) || x.event != nil && p.write && min(p.seen, p.to+settled) >= x.from {
		return false
	}
	if n := len(o.all); n == 0 || o.all[n-1] != p { // it has been there in the page before
		o.all = append(o.all, p)
	}
	if o.newest == nil || o.newest.before(p) {
		o.newest = p
	}
	return true
}

// ordered reports whether the newest of the ranges comes after the others for certain.
func (o *origins) ordered() bool {
	for _, p := range o.all {
		if p != o.newest && !p.before(o.newest) {
			return false
		}
	}
	return true
}

// sources are the ranges that may have put there what an observation shows, and the newest of them: nil where there is none. quiet says that all have for certain done so
// before, and the newest after the others.
func (c *content) sources(x *observation) (all []*stored, newest *stored, quiet bool) {
	first, last := x.lo>>pageBits, (x.hi-1)>>pageBits
	if last-first >= mostPages {
		return nil, nil, false
	}
	o := origins{of: x}
	for _, p := range c.wide {
		if !o.add(p) {
			return nil, nil, false
		}
	}
	steps := 0
	for n := first; n <= last; n++ {
		on := c.pages.has(n)
		if on == nil {
			continue
		}
		for p := on.first; p != nil; p = p.next {
			if steps++; steps > mostSteps || !o.add(p.stored) {
				return nil, nil, false
			}
		}
	}
	if !o.ordered() {
		return nil, nil, false
	}
	return o.all, o.newest, true
}

// is reports whether a range is the one that an observation shows, and what it holds is known.
func (p *stored) is(x *observation) bool { return p != nil && p.known && p.lo == x.lo && p.hi == x.hi }

// together puts the data that an observation should show together of ranges, as far as it is known; what is not is as found, which is what the observation shows. from is what
// has put each byte there; nil: none is known for certain.
func (x *observation) together(all []*stored, found []byte) (want []byte, from []*stored) {
	if len(found) != int(x.hi-x.lo) || len(all) == 0 || len(all) > mostPieces {
		return nil, nil
	}
	slices.SortStableFunc(all, func(p, o *stored) int {
		switch {
		case p.before(o):
			return -1
		case o.before(p):
			return 1
		}
		return 0
	})
	all = slices.Compact(all)
	for i := range all[1:] {
		if !all[i].before(all[i+1]) {
			return nil, nil
		}
	}
	want, from = bytes.Clone(found), make([]*stored, len(found))
	known := 0
	for _, p := range all {
		lo, hi := max(p.lo, x.lo), min(p.hi, x.hi)
		data := found[lo-x.lo : hi-x.lo]
		if p.known && p.data != nil {
			data = p.data[lo-p.lo : hi-p.lo]
			known++
		} else {
			p = nil
		}
		copy(want[lo-x.lo:], data)
		for i := lo - x.lo; i < hi-x.lo; i++ {
			from[i] = p
		}
	}
	if known == 0 {
		return nil, nil
	}
	return want, from
}

// differs is the first byte in which two pieces of data of one length differ, or that length.
func differs(a, b []byte) int {
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	return i
}

// wrong compares an observation with what was put there piece by piece. known says that this tells anything of it; w.p is nil where it shows what it should.
func (x *observation) wrong(all []*stored) (w wrongData, known bool) {
	w.x = x
	if !x.numbered {
		want, from := x.together(all, x.data)
		if w.at = differs(want, x.data[:len(want)]); w.at < len(want) {
			w.want, w.from, w.p = want, from, from[w.at]
		}
		return w, want != nil
	}
	var b [8]byte // a number, whose byte order is not known: it is either
	binary.LittleEndian.PutUint64(b[:], x.number)
	want, from := x.together(all, b[:])
	if want == nil || slices.Contains(from, nil) {
		return w, false
	}
	w.at = differs(want, b[:])
	if binary.BigEndian.PutUint64(b[:], x.number); w.at < len(want) && !bytes.Equal(want, b[:]) {
		w.want, w.from, w.p = want, from, from[w.at]
	}
	return w, true
}

// held puts together, of what the consumer has stored in its memory or found there, the data of a request that has a checksum; nil: no such data is known that has this.
func (s *Source) held(e *Event) []byte {
	if s.content == nil || len(s.content.kept) == 0 || !e.Summed {
		return nil
	}
	var data []byte
	for _, g := range e.Send.Segments {
		part := s.content.dataAt(g)
		if part == nil && g.Length > 0 {
			return nil
		}
		if data == nil {
			data = part[:len(part):len(part)]
		} else {
			data = append(data, part...)
		}
	}
	if sum(data) != e.Sum {
		return nil
	}
	return data
}

// dataAt is what the newest range that covers a segment, and of which the data is kept, has there; nil: there is none.
func (c *content) dataAt(g wqe.Segment) []byte {
	if on := c.pages.has(g.VA >> pageBits); on != nil {
		x := on.last
		for steps := 0; x != nil && steps < mostPieces; steps++ {
			if data := x.dataAt(g); data != nil {
				return data
			}
			x = x.prev
		}
	}
	for i := len(c.wide) - 1; i >= max(len(c.wide)-mostPieces, 0); i-- {
		if data := c.wide[i].dataAt(g); data != nil {
			return data
		}
	}
	return nil
}

// dataAt is what a range has in a segment; nil: it does not cover that, or its data is not kept.
func (p *stored) dataAt(g wqe.Segment) []byte {
	lo, hi := g.VA, g.VA+uint64(g.Length)
	if p.data == nil || p.lo > lo || hi > p.hi {
		return nil
	}
	data := p.data[lo-p.lo : hi-p.lo]
	if p.m != nil {
		data = bytes.Clone(data) // the room is used again
	}
	return data
}
