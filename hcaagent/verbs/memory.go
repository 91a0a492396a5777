package verbs

import (
	"fmt"
	"hash/crc32"

	"ibwitness/hcaagent"
	"ibwitness/wqe"
)

// memory is the consumer's memory, and which of it the keys open.
type memory struct {
	// allocate returns so many bytes at the beginning of a page, and free takes them back.
	allocate func(n uint64) ([]byte, error)
	free     func([]byte)

	buffers []*buffer
	regions map[key]*region
}

// key is an R_Key or L_Key.
type key struct {
	number uint32
	local  bool
}

// buffer is memory that begins at an address of the consumer's choice. Regions over the same addresses share it.
type buffer struct {
	va    uint64
	bytes []byte
	users int
}

// region is a memory region, or a memory window that is bound.
type region struct {
	wqe.Region
	buf  *buffer
	base uint64 // where in buf its first address is
	qp   uint32 // that a type 2 window is bound to
}

// Pages of memory, and how much of it a region has at most.
const (
	pageSize   = 4096
	mostRegion = 1 << 32
)

// take finds memory for a range of addresses: that of a region over them, or new memory. Its pages begin where those of the addresses do.
func (m *memory) take(va, length uint64) (*buffer, error) {
	if length > mostRegion || va+length < va || va+length > ^uint64(0)-pageSize {
		return nil, fmt.Errorf("verbs: memory region of %d bytes at %#x: give at most 4 GiB within 64 bits of address", length, va)
	}
	first := va &^ (pageSize - 1)
	end := max((va+length+pageSize-1)&^(pageSize-1), first+pageSize)
	for _, b := range m.buffers {
		last := b.va + uint64(len(b.bytes))
		switch {
		case first >= b.va && end <= last:
			b.users++
			return b, nil
		case first < last && b.va < end:
			return nil, fmt.Errorf("verbs: memory at %#x, %d bytes, cuts the pages at %#x, %d bytes; register the greater first", va, length, b.va, len(b.bytes))
		}
	}
	bytes, err := m.allocate(end - first)
	if err != nil {
		return nil, fmt.Errorf("verbs: memory region of %d bytes: %w", length, err)
	}
	b := &buffer{first, bytes, 1}
	m.buffers = append(m.buffers, b)
	return b, nil
}

// leave gives memory back that no region is over any more.
func (m *memory) leave(b *buffer) {
	if b.users--; b.users > 0 {
		return
	}
	for i, x := range m.buffers {
		if x == b {
			m.buffers = append(m.buffers[:i], m.buffers[i+1:]...)
			m.free(b.bytes)
			return
		}
	}
}

// add makes the keys of a region open it.
func (m *memory) add(r *region) {
	m.regions[key{r.RKey, false}] = r
	if r.Window == 0 {
		m.regions[key{r.LKey, true}] = r
	}
}

// remove makes its keys open nothing.
func (m *memory) remove(r *region) {
	for _, k := range []key{{r.RKey, false}, {r.LKey, true}} {
		if m.regions[k] == r {
			delete(m.regions, k)
		}
	}
}

// bind makes a region of the window that a request has bound to r.
func (m *memory) bind(r *region, b *wqe.Bind, window int, qpn uint32) {
	w := &region{Region: wqe.Region{PD: r.PD, MW: b.MW, VA: b.VA, Length: b.Length, RKey: b.RKey, Access: b.Access, Window: window}, buf: r.buf, base: b.VA - r.VA + r.base}
	if b.Access&wqe.ZeroBased != 0 {
		w.VA = 0
	}
	if window == 2 {
		w.qp = qpn
	}
	m.unbind(b.MW)
	m.add(w)
}

// unbind makes a window open nothing.
func (m *memory) unbind(mw wqe.MW) {
	for k, r := range m.regions {
		if r.Window != 0 && r.MW == mw {
			delete(m.regions, k)
		}
	}
}

// open returns the bytes of a range that a key opens for a kind of access, to a queue pair of a protection domain; pd 0: to the consumer.
func (m *memory) open(pd wqe.PD, qpn uint32, at wqe.Memory, access wqe.Access) ([]byte, error) {
	kind := "R_Key"
	if at.Key.Local {
		kind = "L_Key"
	}
	refuse := func(format string, args ...any) ([]byte, error) {
		return nil, &hcaagent.AccessError{Key: at.Key, Reason: fmt.Sprintf(format, args...)}
	}
	r := m.regions[key{at.Key.Key, at.Key.Local}]
	switch {
	case r == nil:
		return refuse("%s %#x is not registered", kind, at.Key.Key)
	case pd != 0 && r.PD != pd:
		return refuse("%s %#x belongs to another protection domain", kind, at.Key.Key)
	case pd != 0 && r.qp != 0 && r.qp != qpn:
		return refuse("%s %#x is that of a window of QP %#x", kind, at.Key.Key, r.qp)
	case at.VA < r.VA || at.Length > r.Length || at.VA-r.VA > r.Length-at.Length:
		return refuse("%#x, %d bytes, is not within %#x, %d bytes", at.VA, at.Length, r.VA, r.Length)
	case r.Access&access != access:
		return refuse("%s %#x does not permit it", kind, at.Key.Key)
	}
	first := at.VA - r.VA + r.base
	return r.buf.bytes[first : first+at.Length : first+at.Length], nil
}

// segment names the memory of a segment.
func segment(g *wqe.Segment) wqe.Memory {
	return wqe.Memory{Key: wqe.Key{Key: g.LKey, Local: true}, VA: g.VA, Length: uint64(g.Length)}
}

// each hands over the bytes of a list from one offset to another; false where a segment is not open any more.
func (m *memory) each(list []wqe.Segment, from, to uint64, part func([]byte)) bool {
	at := uint64(0)
	for i := range list {
		begin, end := max(at, from), min(at+uint64(list[i].Length), to)
		if begin < end {
			b, err := m.open(0, 0, segment(&list[i]), 0)
			if err != nil {
				return false
			}
			part(b[begin-at : end-at])
		}
		at += uint64(list[i].Length)
	}
	return at >= to
}

// sum returns the CRC-32 of the bytes of a list from one offset to another.
func (m *memory) sum(list []wqe.Segment, from, to uint64) (sum uint32, ok bool) {
	ok = m.each(list, from, to, func(b []byte) { sum = crc32.Update(sum, crc32.IEEETable, b) })
	return sum, ok
}

// length is how many bytes a list has.
func length(list []wqe.Segment) (n uint64) {
	for i := range list {
		n += uint64(list[i].Length)
	}
	return n
}
