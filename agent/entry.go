package agent

import (
	"math/bits"

	"ibwitness/packet"
)

// Entry is where the packets of an end come by: the tap that shows them first, and the Ethernet address that sent them there, of a router or of the host itself. It is looked at in the first packet, in one of
// entrySample of the others, and in each that is out of the ordinary, such as after a gap: Known says that all of these came by one tap.
type Entry struct {
	Known  bool
	Tap    uint16
	Source uint64 // 0: not known, or there are several
}

const (
	mostEntries = 1024 // that are kept
	entrySample = 64
)

// entryKey is what the packets of an end have in common, as each has it, folded. What meets by chance comes by several ways then, most likely, and is not known.
type entryKey uint64

func entryKeyOf(from, to packet.Addr, qpn uint32) entryKey {
	const odd = 0x9e3779b97f4a7c15
	k := uint64(qpn)
	for _, x := range [...]uint64{from.Hi, from.Lo, to.Hi, to.Lo} {
		k = bits.RotateLeft64((k^x)*odd, 29)
	}
	return entryKey(k)
}

// Hop is between which Ethernet addresses the packets of an end went at a tap, of those that are looked at for Entry: at the end of a network that is routed, one of these is that of the next hop.
type Hop struct {
	From   uint64 // the first that they came from; 0: not known, or they changed more than once
	Turned uint64 // the one that they came from later; 0: it did not change
	To     uint64 // the one that they went to; 0: not known, or there were several
	Turn   Seen   // the first from the later one
}

// Seen is when something was seen.
type Seen struct {
	At    int64 // nanoseconds since the Unix epoch
	Frame uint64
}

// entry is an Entry of which several says that packets came by several taps.
type entry struct {
	source  uint64
	tap     uint16
	several bool
	mixed   bool // they came from several Ethernet addresses
	again   bool // and changed more than once
	astray  bool // they went to several
	hop     Hop
}

// entries are those of an agent.
type entries struct {
	by   map[entryKey]*entry
	many bool // more than are kept: none is known then, so that it does not depend on who counts them
}

// packet takes a packet.
func (s *entries) packet(p *packet.Packet) {
	if s.many {
		return
	}
	k := entryKeyOf(p.Src, p.Dst, p.DestQP)
	e := s.by[k]
	if e == nil {
		s.add(k, p)
		return
	}
	e.several, e.mixed, e.astray = e.several || e.tap != p.Tap, e.mixed || e.source != p.Source, e.astray || e.hop.To != p.Station
	switch h := &e.hop; {
	case h.Turned == 0 && p.Source != h.From:
		h.Turned, h.Turn = p.Source, Seen{p.Time, p.Frame}
	case h.Turned != 0 && p.Source != h.Turned:
		e.again = true
	}
}

func (s *entries) add(k entryKey, p *packet.Packet) {
	if s.by == nil {
		s.by = map[entryKey]*entry{}
	}
	if len(s.by) == mostEntries {
		s.by, s.many = nil, true
		return
	}
	s.by[k] = &entry{source: p.Source, tap: p.Tap, hop: Hop{From: p.Source, To: p.Station}}
}

// entriesKnown reports whether agents know those of all connections.
func entriesKnown(agents []*Transport) bool {
	n := 0
	for _, t := range agents {
		if n += len(t.entries.by); t.entries.many || n > mostEntries {
			return false
		}
	}
	return true
}

// enter fills in where the packets of both ends of a connection come by.
func (s *entries) enter(c *Connection) {
	for from := range c.Ends {
		to := &c.Ends[1-from]
		if e, known := s.by[entryKeyOf(c.Ends[from].Addr, to.Addr, to.QPN)]; known && to.QPNKnown && !e.several {
			x := &c.Ends[from].Path.Entry
			if x.Known, x.Tap = true, e.tap; !e.mixed {
				x.Source = e.source
			}
			c.Ends[from].Hop = e.known()
		}
	}
}

// known is the Hop of an entry.
func (e *entry) known() *Hop {
	h := e.hop
	if e.astray {
		h.To = 0
	}
	if e.again || h.From == 0 {
		h.From, h.Turned, h.Turn = 0, 0, Seen{}
	}
	return &h
}
