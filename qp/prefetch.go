package qp

import (
	"unsafe"

	"ibwitness/internal/cache"
	"ibwitness/packet"
)

// Where the lines that a usual packet needs begin in a direction. A field's address taken in the ordinary way would read from the direction first, to see that there
// is one, and wait for memory.
const (
	flow     = unsafe.Offsetof(Direction{}.Flow)
	send     = unsafe.Offsetof(Direction{}.SQ) + unsafe.Offsetof(SendQueue{}.Next)
	messages = unsafe.Offsetof(Direction{}.SQ) + unsafe.Offsetof(SendQueue{}.Messages)
	receive  = unsafe.Offsetof(Direction{}.Peer) + unsafe.Offsetof(ReceiveQueue{}.EPSN)
)

// Queues are the send queue and the receive queue that it sends to. As addresses of fields they would be known only once the first line of the direction has been read, which
// a usual response does not need.
func (d *Direction) Queues() (*SendQueue, *ReceiveQueue) {
	return (*SendQueue)(unsafe.Add(unsafe.Pointer(d), unsafe.Offsetof(d.SQ))), (*ReceiveQueue)(unsafe.Add(unsafe.Pointer(d), unsafe.Offsetof(d.Peer)))
}

// Fetch names the line of the cache of the pair that a packet needs, and by which its directions are found. It reads nothing of the pair.
func (c *Pair) Fetch(l *cache.Lines) { l.Add(unsafe.Pointer(c)) }

// FetchWays names every line of the directions that packet p from an end will need, but for those of its message. It reports whether the pair is Paired.
func (c *Pair) FetchWays(from int, p *packet.Packet, l *cache.Lines) bool {
	d := unsafe.Pointer(c.Ends[from&1].Direction)
	l.Add(unsafe.Add(d, flow))
	if !p.Info().Request {
		d = unsafe.Pointer(c.Ends[^from&1].Direction)
	}
	l.Add(unsafe.Add(d, send))
	l.Add(unsafe.Add(d, receive))
	return c.Paired
}

// FetchUnpaired names the lines that, beside those of a usual packet, each packet of an unpaired connection needs.
func (c *Pair) FetchUnpaired(l *cache.Lines) {
	l.Add(unsafe.Add(unsafe.Pointer(c), unsafe.Sizeof(Pair{})-1))
	l.Add(unsafe.Pointer(c.Ends[0].Direction))
}

// FetchEnds names the lines of who the ends are.
func (c *Pair) FetchEnds(l *cache.Lines) {
	l.Add(unsafe.Pointer(c))
	l.Add(unsafe.Add(unsafe.Pointer(c), unsafe.Sizeof(Pair{})-1))
}

// FetchSums names the lines of what they sent, and of what of that tells of something lost.
func (c *Pair) FetchSums(l *cache.Lines) {
	for i := range c.Ends {
		d := unsafe.Pointer(c.Ends[i].Direction)
		l.Add(unsafe.Add(d, flow))
		l.Add(unsafe.Add(d, send))    // and whether a message is open
		l.Add(unsafe.Add(d, receive)) // where what few directions have is found
	}
}

// FetchMessage names the lines of the message that p begins, carries on or answers, and where a request is kept.
func (c *Pair) FetchMessage(from int, p *packet.Packet, l *cache.Lines) {
	in := p.Info()
	if !in.Request {
		from ^= 1
	}
	r := (*Ring)(unsafe.Add(unsafe.Pointer(c.Ends[from&1].Direction), messages))
	if r.blocks[0] == nil {
		return
	}
	if in.Request {
		l.Add(unsafe.Pointer((*History)(r).slot(p.PSN)))
	}
	switch {
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
}

// FetchNext names the line of the PSN that an end sends next.
func (c *Pair) FetchNext(from int, l *cache.Lines) {
	l.Add(unsafe.Add(unsafe.Pointer(c.Ends[from&1].Direction), send))
}
