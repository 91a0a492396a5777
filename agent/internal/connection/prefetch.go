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
	// steps is for how many packets there is room: more than are on their way, and a power of two.
	steps = 8 * Lead
)

// pipeline is what is known of the packets that are about to be verified.
type pipeline struct {
	of    [steps]lookup
	lines cache.Lines
}

// at is what is known of a packet by its number.
func (a *pipeline) at(k int) *lookup { return &a.of[uint(k)%steps] }

// lookup is a packet of RC or UC, and its connection: half a line of the cache.
type lookup struct {
	key     uint64 // of its flow; 0: not known
	c       *Connection
	index   uint32 // of c, where known; before that where the search for the flow begins
	changes uint32 // of the table of flows, when it was looked for
	from    uint8  // the end that sent it
	known   bool
	watched bool // the packet may be a copy: it goes the long way
}

// Delay is how many packets a call of Ahead is ahead of the packet that it returns.
const Delay = 5 * Lead

// Ahead takes step i of verifying packets of many connections, of which there are as many as packets and Delay more: of a connection that is not in the
// processor's cache, it fetches what the packets ahead need, while the ones before them are verified. It returns of packet i-Delay, which is to be verified
// next where there is one, the connection and the end that sent it, where these are known.
func (t *Table) Ahead(packets []*packet.Packet, i int) (c *Connection, from int) {
	a, k := &t.ahead, i-Delay
	if k < 0 || i >= len(packets) {
		t.aheadOfFew(packets, i)
	} else { // each step has a packet
		p := (*[Delay + 1]*packet.Packet)(packets[k:])
		t.seek(a.at(i), p[Delay])
		t.found(a.at(i-Lead), p[Delay-Lead])
		t.fetch(a.at(i - 2*Lead))
		t.fetchWays(a.at(i-3*Lead), p[Delay-3*Lead])
		t.fetchMessage(a.at(i-4*Lead), p[Delay-4*Lead])
	}
	a.lines.Fetch()
	if s := a.at(k); s.changes == uint32(t.flows.changes) && !s.watched {
		return s.c, int(s.from)
	}
	return nil, 0
}

// aheadOfFew is the steps of Ahead where some of them have no packet: at the first packets and the last ones.
//
//go:noinline
func (t *Table) aheadOfFew(packets []*packet.Packet, i int) {
	a := &t.ahead
	if i < len(packets) {
		t.seek(a.at(i), packets[i])
	}
	if k := i - Lead; k >= 0 && k < len(packets) {
		t.found(a.at(k), packets[k])
	}
	if k := i - 2*Lead; k >= 0 && k < len(packets) {
		t.fetch(a.at(k))
	}
	if k := i - 3*Lead; k >= 0 && k < len(packets) {
		t.fetchWays(a.at(k), packets[k])
	}
	if k := i - 4*Lead; k >= 0 && k < len(packets) {
		t.fetchMessage(a.at(k), packets[k])
	}
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
		i := t.flows.home(s.key, 0)
		s.index = uint32(i)
		first, last := t.flows.around(i)
		t.ahead.lines.Add(unsafe.Pointer(first))
		t.ahead.lines.Add(unsafe.Pointer(last)) // often the same line
	}
}

// found fetches the state of the connection of a packet.
func (t *Table) found(s *lookup, p *packet.Packet) {
	if s.key == 0 {
		return
	}
	// Where the table has grown since, the search does not begin where it should, and may find nothing.
	if f := t.flows.from(int(s.index), s.key, 0); f.key != 0 {
		s.known, s.index, s.from, s.changes = true, f.way>>1, uint8(f.way&1), uint32(t.flows.changes)
		t.ahead.lines.Add(unsafe.Pointer(&t.pairs.list[s.index]))
		return
	}
	t.fetchHost(s)
	if p.Info().Request {
		t.match.Ahead(s.scope(p), p.PSN, &t.ahead.lines)
	}
}

// fetch fetches where the state of the directions of a connection is found.
func (t *Table) fetch(s *lookup) {
	if s.known {
		s.c = t.pairs.at(s.index)
		QPs(s.c).Fetch(&t.ahead.lines)
	}
}

// fetchWays fetches the state of the directions of the connection of a packet.
func (t *Table) fetchWays(s *lookup, p *packet.Packet) {
	if s.c != nil && !QPs(s.c).FetchWays(int(s.from), p, &t.ahead.lines) {
		t.unpaired(s, p)
	}
}

// fetchMessage fetches the message that a packet belongs to.
func (t *Table) fetchMessage(s *lookup, p *packet.Packet) {
	if s.c != nil {
		QPs(s.c).FetchMessage(int(s.from), p, &t.ahead.lines)
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
