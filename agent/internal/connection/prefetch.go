package connection

import (
	"unsafe"

	"ibwitness/internal/cache"
	"ibwitness/packet"
	"ibwitness/qp"
)

const (
	// fetched is from how many flows on their state is fetched from memory ahead of the packets: fewer stay in the processor's cache.
	fetched = 2048
	// Lead is how many packets each step of fetching is ahead of the next: time enough for a line to arrive.
	Lead = 4
	// steps is how many packets are on their way at most.
	steps = 6 * Lead
)

// pipeline is what is known of the packets that are about to be verified.
type pipeline struct {
	of    [steps]lookup
	lines cache.Lines
}

// lookup is a packet of RC or UC, and its connection.
type lookup struct {
	key     uint64 // of its flow; 0: not known
	c       *Connection
	index   uint32 // of c, where known
	known   bool
	watched bool // the packet may be a copy: it goes the long way
	from    int  // the end that sent it
	changes int  // of the table of flows, when it was looked for
}

// Delay is how many packets a call of Ahead is ahead of the packet that it returns.
const Delay = 5 * Lead

// Ahead takes step i of verifying packets of many connections, of which there are as many as packets and Delay more: of a connection that is not in the
// processor's cache, it fetches what the packets ahead need, while the ones before them are verified. It returns which packet is to be verified next, or a
// negative number where none is yet, with its connection and the end that sent it where these are known.
func (t *Table) Ahead(packets []*packet.Packet, i int) (k int, c *Connection, from int) {
	a := &t.ahead
	if i < len(packets) {
		t.seek(&a.of[i%steps], packets[i])
	}
	if k := i - Lead; k >= 0 && k < len(packets) {
		t.found(&a.of[k%steps], packets[k])
	}
	if k := i - 2*Lead; k >= 0 && k < len(packets) && a.of[k%steps].known {
		s := &a.of[k%steps]
		s.c = t.pairs.at(s.index)
		QPs(s.c).Fetch(&a.lines)
	}
	if k := i - 3*Lead; k >= 0 && k < len(packets) && a.of[k%steps].c != nil {
		s := &a.of[k%steps]
		if c := QPs(s.c); !c.FetchWays(s.from, packets[k], &a.lines) {
			t.unpaired(s, packets[k])
		}
	}
	if k := i - 4*Lead; k >= 0 && k < len(packets) && a.of[k%steps].c != nil {
		s := &a.of[k%steps]
		QPs(s.c).FetchMessage(s.from, packets[k], &a.lines)
	}
	a.lines.Fetch()
	if k = i - Delay; k >= 0 {
		if s := &a.of[k%steps]; s.changes == t.flows.changes && !s.watched {
			return k, s.c, s.from
		}
	}
	return k, nil, 0
}

// Few reports whether what is kept of the connections stays in the processor's cache.
func (t *Table) Few() bool { return t.flows.used < fetched }

// seek fetches where the connection of a packet is found.
func (t *Table) seek(s *lookup, p *packet.Packet) {
	*s = lookup{}
	connected := p.Opcode.Service() <= packet.UC
	if t.Several || p.Way != packet.WayUnknown || !connected && t.admission.full == 0 { // perhaps seen twice
		return
	}
	h := t.hosts.slot(p.Src, p.Dst)
	switch {
	case h.way == 0:
		t.fetchTally(p)
	case connected && h.station == p.Station:
		s.key, s.watched = uint64(h.way-1)<<24|uint64(p.DestQP)+1, h.watched > 0
		first, last := t.flows.homes(s.key)
		t.ahead.lines.Add(unsafe.Pointer(first))
		t.ahead.lines.Add(unsafe.Pointer(last)) // often the same line
	}
}

// found fetches the state of the connection of a packet.
func (t *Table) found(s *lookup, p *packet.Packet) {
	if s.key == 0 {
		return
	}
	if f := t.flows.find(s.key-1, 0); f != nil {
		s.known, s.index, s.from, s.changes = true, f.way>>1, int(f.way&1), t.flows.changes
		t.ahead.lines.Add(unsafe.Pointer(&t.pairs.list[s.index]))
		return
	}
	t.fetchHost(s)
	if p.Info().Request {
		t.match.Ahead(s.scope(p), p.PSN, &t.ahead.lines)
	}
}

// fetchHost fetches what is kept of the pair of hosts of a packet.
func (t *Table) fetchHost(s *lookup) {
	h := unsafe.Pointer(&t.hosts.list[(s.key-1)>>25])
	for at := uintptr(0); at < unsafe.Sizeof(Host{}); at += 64 {
		t.ahead.lines.Add(unsafe.Add(h, at))
	}
}

// unpaired fetches what it takes to find the other direction of the connection of a packet.
func (t *Table) unpaired(s *lookup, p *packet.Packet) {
	l := &t.ahead.lines
	l.Add(unsafe.Pointer(s.c))
	s.c.FetchUnpaired(l)
	t.fetchHost(s)
	t.match.AheadOf(s.index, l)
	t.match.Ahead(s.scope(p), p.PSN, l)
}

// scope is that of the requests that belong to a packet, for the matcher.
func (s *lookup) scope(p *packet.Packet) uint64 {
	scope := (s.key - 1) >> 24
	if !p.Info().Request && p.Src != p.Dst {
		scope ^= 1
	}
	return scope
}

// QPs is &c.Pair, without a read from c to see that there is one.
func QPs(c *Connection) *qp.Pair { return (*qp.Pair)(unsafe.Pointer(c)) }
