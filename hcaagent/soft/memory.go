package soft

import (
	"fmt"
	"hash/crc32"

	"ibwitness/hcaagent"
	"ibwitness/wqe"
)

// buffer is memory of the consumer. Regions over the same addresses share it.
type buffer struct {
	va    uint64
	bytes []byte
}

// region is a memory region, or a memory window.
type region struct {
	wqe.Region
	pd     wqe.PD
	buf    *buffer
	base   uint64  // where in buf its first address is
	qp     uint32  // that a type 2 window is bound to
	parent *region // region that a window is bound to
	bound  int     // windows bound to it
	valid  bool    // its keys open it
}

// allocate finds memory for a range of addresses: that of a range which holds it, or new memory.
func (h *HCA) allocate(va, length uint64) (*buffer, error) {
	if length > 1<<32 || va+length < va {
		return nil, fmt.Errorf("soft: memory region of %d bytes at %#x: give at most 4 GiB within 64 bits of address", length, va)
	}
	for _, b := range h.bufs {
		end := b.va + uint64(len(b.bytes))
		switch {
		case va >= b.va && va+length <= end:
			return b, nil
		case va < end && b.va < va+length:
			return nil, fmt.Errorf("soft: memory at %#x, %d bytes, cuts that at %#x, %d bytes; register the greater first", va, length, b.va, len(b.bytes))
		}
	}
	b := &buffer{va, make([]byte, length)}
	h.bufs = append(h.bufs, b)
	return b, nil
}

// refuse is an access error.
func refuse(key wqe.Key, format string, args ...any) error {
	return &hcaagent.AccessError{Key: key, Reason: fmt.Sprintf(format, args...)}
}

// open returns the bytes of a range that a key opens in a protection domain for a kind of access.
func (h *HCA) open(pd wqe.PD, qpn uint32, m wqe.Memory, access wqe.Access) ([]byte, error) {
	kind := "R_Key"
	if m.Key.Local {
		kind = "L_Key"
	}
	r := h.keyed(m.Key.Key)
	switch {
	case r == nil || !r.valid || m.Key.Local && r.LKey != m.Key.Key || !m.Key.Local && r.RKey != m.Key.Key:
		return nil, refuse(m.Key, "%s %#x is not registered", kind, m.Key.Key)
	case r.pd != pd:
		return nil, refuse(m.Key, "%s %#x belongs to another protection domain", kind, m.Key.Key)
	case r.qp != 0 && r.qp != qpn:
		return nil, refuse(m.Key, "%s %#x is that of a window of QP %#x", kind, m.Key.Key, r.qp)
	case m.VA < r.VA || m.VA+m.Length < m.VA || m.VA+m.Length > r.VA+r.Length:
		return nil, refuse(m.Key, "%#x, %d bytes, is not within %#x, %d bytes", m.VA, m.Length, r.VA, r.Length)
	case r.Access&access != access:
		return nil, refuse(m.Key, "%s %#x does not permit it", kind, m.Key.Key)
	}
	at := m.VA - r.VA + r.base
	return r.buf.bytes[at : at+m.Length : at+m.Length], nil
}

// remote opens memory for a packet of the peer. A range of no bytes needs no key (C9-88).
func (q *queuePair) remote(rkey uint32, va, length uint64, access wqe.Access) ([]byte, error) {
	if length == 0 {
		return nil, nil
	}
	b, err := q.h.open(q.pd, q.num, wqe.Memory{Key: wqe.Key{Addr: q.h.opt.Addr, Key: rkey}, VA: va, Length: length}, access)
	if err != nil && q.h.fault.is != nil {
		if other, ok := q.h.trespass(rkey, va, length, access); ok {
			return other, nil
		}
	}
	return b, err
}

// list is a scatter or gather list whose segments are open.
type list struct {
	parts  [][]byte
	length uint64
}

// openList opens a scatter or gather list. room is for its parts.
func (h *HCA) openList(pd wqe.PD, segments []wqe.Segment, access wqe.Access, room [][]byte) (l list, err error) {
	l.parts = room
	for _, s := range segments {
		if s.Length == 0 {
			continue
		}
		b, err := h.open(pd, 0, wqe.Memory{Key: wqe.Key{Addr: h.opt.Addr, Key: s.LKey, Local: true}, VA: s.VA, Length: uint64(s.Length)}, access)
		if err != nil {
			return list{}, err
		}
		l.parts = append(l.parts, b)
		l.length += uint64(s.Length)
	}
	return l, nil
}

// crc is the CRC-32 of all bytes of a list.
func (l *list) crc() (c uint32) {
	for _, p := range l.parts {
		c = crc32.Update(c, crc32.IEEETable, p)
	}
	return c
}

// at returns n bytes of the list from an offset on, copied only where they are in several segments.
func (l *list) at(off, n uint64) []byte {
	for i, p := range l.parts {
		if off >= uint64(len(p)) {
			off -= uint64(len(p))
			continue
		}
		if off+n <= uint64(len(p)) {
			return p[off : off+n : off+n]
		}
		all := make([]byte, 0, n)
		for ; i < len(l.parts) && uint64(len(all)) < n; i++ {
			p = l.parts[i][off:]
			all, off = append(all, p[:min(uint64(len(p)), n-uint64(len(all)))]...), 0
		}
		return all
	}
	return nil
}

// put scatters data into the list from an offset on. It reports false where the list is too short, and then has put what fits.
func (l *list) put(off uint64, data []byte) bool {
	for _, p := range l.parts {
		if len(data) == 0 {
			return true
		}
		if off >= uint64(len(p)) {
			off -= uint64(len(p))
			continue
		}
		n := copy(p[off:], data)
		data, off = data[n:], 0
	}
	return len(data) == 0
}
