package sim

import "ibwitness/link"

// Hand is who plays a port of a link in place of the port itself.
type Hand struct {
	p    *linkPort
	free int64 // when what was put has been sent
}

// Hand has a port of the link be played by hand. It changes its states with the link, and else sends just what Put is given: no flow control packet by itself, nothing
// of the device that Attach has joined to it, and it keeps no credits. receive is called with all that comes to the port, right or wrong: data packets from LRH through
// VCRC, link packets with their LPCRC, and physical states of the other port. It may keep the data, and not change it.
func (l *Link) Hand(port int, receive func(k link.Kind, m link.Mark, data []byte)) *Hand {
	p := l.ports[port]
	p.hand = receive
	return &Hand{p: p}
}

// Put sends bytes as they are, whatever they are and whatever state the port is in, as a data packet or a link packet; it takes as long as they do, after what was put
// before. Of the mark it takes what ends the packet. It returns when the last byte leaves.
func (h *Hand) Put(k link.Kind, m link.Mark, data []byte) (at int64) {
	l := h.p.link
	m.Link, m.Symbol, m.Port = l.opt.Number, l.opt.Symbol, h.p.index
	frame := append(link.AppendHeader(make([]byte, 0, link.HeaderSize+len(data)), k, m), data...)
	h.free = max(h.free, l.clock.now) + l.time(len(data))
	l.clock.After(h.free-l.clock.now, func() { h.p.leave(frame) })
	return h.free
}
