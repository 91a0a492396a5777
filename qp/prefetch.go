package qp

import (
	"unsafe"

	"ibwitness/internal/cache"
	"ibwitness/packet"
	"ibwitness/wqe"
)

// Where the lines that a usual packet needs begin, from that of the pair or of an end on. A field's address taken in the ordinary way would read
// from the pair first, to see that there is one, and wait for memory.
const (
	ends     = unsafe.Offsetof(Pair{}.Ends)
	end      = unsafe.Sizeof(QP{})
	sums     = unsafe.Offsetof(QP{}.Sums) + unsafe.Offsetof(Sums{}.Packets)
	attr     = unsafe.Offsetof(QP{}.Attr)
	receive  = unsafe.Offsetof(QP{}.RQ)
	cold     = unsafe.Offsetof(QP{}.SQ)
	send     = unsafe.Offsetof(QP{}.SQ) + unsafe.Offsetof(SendQueue{}.Next)
	messages = unsafe.Offsetof(QP{}.SQ) + unsafe.Offsetof(SendQueue{}.Messages)
	history  = unsafe.Offsetof(QP{}.SQ) + unsafe.Offsetof(SendQueue{}.History) + unsafe.Offsetof(History{}.few)
)

// Fetch names every line of the cache that packet p from an end will need, but for that of its message. It reads nothing of the pair.
func (c *Pair) Fetch(from int, p *packet.Packet, l *cache.Lines) {
	pair := unsafe.Pointer(c)
	a := unsafe.Add(pair, ends+uintptr(from&1)*end)
	b := unsafe.Add(pair, ends+uintptr(^from&1)*end)
	l.Add(pair)
	l.Add(unsafe.Add(a, sums))
	if !p.Info().Request {
		l.Add(unsafe.Add(a, receive))
		l.Add(unsafe.Add(b, send))
		l.Add(unsafe.Add(b, messages))
		return
	}
	l.Add(unsafe.Add(a, send))
	l.Add(unsafe.Add(a, messages))
	l.Add(unsafe.Add(a, history+uintptr(p.PSN%historyMin)*unsafe.Sizeof(Sent{})))
	l.Add(unsafe.Add(b, receive))
	if wqe.OpOf(p.Opcode.Fn()).Responded() {
		l.Add(unsafe.Add(b, attr))
	}
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

// FetchMessage names the lines of the message that p begins, carries on or answers.
func (c *Pair) FetchMessage(from int, p *packet.Packet, l *cache.Lines) {
	in := p.Info()
	switch r := &c.Ends[from&1].SQ.Messages; {
	case !in.Request:
		r = &c.Ends[^from&1].SQ.Messages
		l.Add(unsafe.Pointer(r.slot(r.tail - 1)))
		l.Add(unsafe.Pointer(r.slot(r.tail - 2)))
	case in.First || in.Only:
		l.Add(unsafe.Pointer(r.slot(r.tail)))
	default:
		l.Add(unsafe.Pointer(r.slot(r.tail - 1)))
	}
}

// FetchNext names the line of the PSN that an end sends next.
func (c *Pair) FetchNext(from int, l *cache.Lines) {
	l.Add(unsafe.Add(unsafe.Pointer(c), ends+uintptr(from&1)*end+send))
}
