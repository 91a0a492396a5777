package qp

import (
	"unsafe"

	"ibwitness/internal/cache"
	"ibwitness/packet"
)

// Where the lines that a usual packet needs begin, from that of the pair or of an end on. A field's address taken in the ordinary way would read
// from the pair first, to see that there is one, and wait for memory.
const (
	ends    = unsafe.Offsetof(Pair{}.Ends)
	end     = unsafe.Sizeof(QP{})
	sums    = unsafe.Offsetof(QP{}.Sums) + unsafe.Offsetof(Sums{}.Packets)
	receive = unsafe.Offsetof(QP{}.RQ) + unsafe.Offsetof(ReceiveQueue{}.EPSN)
	cold    = unsafe.Offsetof(QP{}.SQ) + unsafe.Offsetof(SendQueue{}.Gap)
	send    = unsafe.Offsetof(QP{}.SQ) + unsafe.Offsetof(SendQueue{}.Next)
)

// Fetch names every line of the cache that packet p from an end will need, but for those of its message. It reads nothing of the pair.
func (c *Pair) Fetch(from int, p *packet.Packet, l *cache.Lines) {
	pair := unsafe.Pointer(c)
	a := unsafe.Add(pair, ends+uintptr(from&1)*end)
	b := unsafe.Add(pair, ends+uintptr(^from&1)*end)
	l.Add(pair)
	l.Add(unsafe.Add(a, sums))
	if !p.Info().Request {
		l.Add(unsafe.Add(a, receive))
		l.Add(unsafe.Add(b, send))
		return
	}
	l.Add(unsafe.Add(a, send))
	l.Add(unsafe.Add(b, receive))
}

// FetchUnpaired names the lines that, beside those of a usual packet, each packet of an unpaired connection needs.
func (c *Pair) FetchUnpaired(l *cache.Lines) {
	pair := unsafe.Pointer(c)
	l.Add(unsafe.Add(pair, ends))
	l.Add(unsafe.Add(pair, ends+end))
	l.Add(unsafe.Add(pair, ends+cold))
}

// FetchSums names the lines of who the ends are and what they sent.
func (c *Pair) FetchSums(l *cache.Lines) {
	pair := unsafe.Pointer(c)
	l.Add(pair)
	for i := range uintptr(2) {
		l.Add(unsafe.Add(pair, ends+i*end))
		l.Add(unsafe.Add(pair, ends+i*end+sums))
	}
}

// FetchMessage names the lines of the message that p begins, carries on or answers, and where a request is kept. It reports whether the pair is Paired.
func (c *Pair) FetchMessage(from int, p *packet.Packet, l *cache.Lines) bool {
	in := p.Info()
	q := &c.Ends[from&1].SQ
	if in.Request {
		if q.History.size > 0 {
			l.Add(unsafe.Pointer(q.History.slot(p.PSN)))
		}
	} else {
		q = &c.Ends[^from&1].SQ
	}
	switch r := &q.Messages; {
	case r.size == 0:
	case !in.Request:
		l.Add(unsafe.Pointer(r.slot(r.tail - 1)))
		if r.due != 0 {
			l.Add(unsafe.Pointer(r.slot(r.due - 1)))
		} else {
			l.Add(unsafe.Pointer(r.slot(r.tail - 2)))
		}
	case in.First || in.Only:
		l.Add(unsafe.Pointer(r.slot(r.tail)))
	default:
		l.Add(unsafe.Pointer(r.slot(r.tail - 1)))
	}
	return c.Paired
}

// FetchNext names the line of the PSN that an end sends next.
func (c *Pair) FetchNext(from int, l *cache.Lines) {
	l.Add(unsafe.Add(unsafe.Pointer(c), ends+uintptr(from&1)*end+send))
}
