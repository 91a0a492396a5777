package conform

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"ibwitness/mad"
)

// table is an attribute that is read and set in blocks.
type table struct {
	r    *run
	a    mad.Attribute
	size int // bytes of an entry

	get, set, stored string // assertions: Get and Set are answered with status code 0, and entries have the values that were set
}

// read reads a block, and returns nil where it is not answered.
func (t *table) read(modifier uint32) *exchange {
	x := t.r.manager.ask(mad.Get, t.a, modifier, nil)
	if !t.r.answered(t.get, x, granted, "") {
		return nil
	}
	return x
}

// write sets a block, and judges that the answer has the first n entries as they were set. It returns nil where the Set is not taken.
func (t *table) write(modifier uint32, data []byte, n int) *exchange {
	x := t.r.manager.ask(mad.Set, t.a, modifier, data)
	if !t.r.answered(t.set, x, granted, "") {
		return nil
	}
	t.same(x, "the answer to "+x.what(), data, n, nil)
	return x
}

// reread reads a block that was set, and judges that it has the first n entries as they were set. A Set that was not taken is nil.
func (t *table) reread(modifier uint32, data []byte, n int, set *exchange) {
	if x := t.read(modifier); x != nil && set != nil {
		t.same(x, x.what(), data, n, set)
	}
}

// same judges that the first n entries of an answer are as they were set.
func (t *table) same(x *exchange, what string, data []byte, n int, set *exchange) {
	at := t.differs(x.Data, data, n)
	frames := x.frames()
	if set != nil {
		frames = append(set.frames(), x.got)
	}
	want, got := fmt.Sprintf("%d entries as they were set", n), "so they are"
	if at >= 0 {
		want, got = fmt.Sprintf("entry %d %#x in %s", at, t.entry(data, at), what), fmt.Sprintf("%#x", t.entry(x.Data, at))
	}
	t.r.check(t.stored, at < 0, want, got, frames...)
}

// differs is the first of n entries that are not the same, or -1.
func (t *table) differs(a, b []byte, n int) int {
	for i := range n {
		if t.entry(a, i) != t.entry(b, i) {
			return i
		}
	}
	return -1
}

func (t *table) entry(b []byte, i int) uint32 {
	switch b = b[i*t.size:]; t.size {
	case 1:
		return uint32(b[0])
	case 2:
		return uint32(binary.BigEndian.Uint16(b))
	}
	return binary.BigEndian.Uint32(b)
}

// block makes the data of a Set of n entries.
func (t *table) block(n int, entry func(i int) uint32) []byte {
	data := make([]byte, mad.SMPDataSize)
	for i := range n {
		switch b := data[i*t.size:]; t.size {
		case 1:
			b[0] = uint8(entry(i))
		case 2:
			binary.BigEndian.PutUint16(b, uint16(entry(i)))
		default:
			binary.BigEndian.PutUint32(b, entry(i))
		}
	}
	return data
}

// written is a block that was set, and what it was before.
type written struct {
	modifier uint32
	n        int // entries
	was      []byte
	data     []byte
	set      *exchange
}

// writeAll reads and sets blocks one after the other, so that a block that is kept in the place of another one shows. fill makes the data of the Set from those that came.
func (t *table) writeAll(list []written, fill func(w *written) []byte) {
	for i := range list {
		w := &list[i]
		x := t.read(w.modifier)
		if x == nil {
			continue
		}
		w.was = bytes.Clone(x.Data)
		w.data = fill(w)
		w.set = t.write(w.modifier, w.data, w.n)
	}
}

// rereadAll reads blocks that were set.
func (t *table) rereadAll(list []written) {
	for _, w := range list {
		if w.data != nil {
			t.reread(w.modifier, w.data, w.n, w.set)
		}
	}
}

// restoreAll sets blocks to what they were.
func (t *table) restoreAll(list []written) {
	for _, w := range list {
		if w.was != nil {
			t.r.manager.ask(mad.Set, t.a, w.modifier, w.was)
		}
	}
}

// refused judges that Get and Set of a modifier are answered with one of some status codes.
func (r *run) refused(id string, a mad.Attribute, modifier uint32, codes []int) {
	for _, method := range []mad.Method{mad.Get, mad.Set} {
		r.answered(id, r.manager.ask(method, a, modifier, make([]byte, mad.SMPDataSize)), codes, "")
	}
}

// blocks are the blocks of a table of so many entries, with per entries each.
func blocks(entries, per int) (list []written) {
	for i := 0; i*per < entries; i++ {
		list = append(list, written{modifier: uint32(i), n: min(per, entries-i*per)})
	}
	return list
}
