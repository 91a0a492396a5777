package connection

import (
	"unsafe"

	"ibwitness/internal/cache"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// pairs holds the connections of a transport agent by index. They never move.
type pairs struct {
	list []*Connection
	n    uint32
	// followed are what is kept of the connections that were looked at, by index.
	followed []followed
	gone     *Connection   // replaces all that were merged into another
	free     []*Connection // the memory of some of these, to be used again
	// large are the places of memory, by large page, that were asked to be large pages, for the connections before settled.
	large   map[uintptr]bool
	settled uint32
	near    [2]uintptr // the memory that the newest connection and its first direction are in, by cache.Growth
	packets uint64     // that were verified
}

// Connection is a pair of QPs and what only the report wants of it. It has two lines of the cache: see qp.Pair.
type Connection struct {
	qp.Pair

	FirstTime  int64
	FirstFrame uint64
	first      uint32 // opcode and PSN of the first packet
	FirstTap   uint16
	PairedBy   PairedBy
	state      state
}

// state is what a connection is to its table.
type state uint8

const (
	dead       state = 1 << iota // merged into another
	leaving                      // it is judged to its end, and forgotten
	kept                         // another is misdirected from it
	initiator0                   // of XRC: the end that sends the requests; neither: not known
	initiator1
	hops0 // three bits, from here on: the hop limit (TTL) of the first packet, where it is at most MostHops; 0: it is more, or not known
	hops  = MostHops * hops0
)

// MostHops is up to which hop limit that of the first packet of a connection is kept.
const MostHops = 7

// FirstHops is the hop limit (TTL) of the first packet on IP, where it is at most MostHops; 0: it is more, or not known.
func (c *Connection) FirstHops() uint8 { return uint8(c.state / hops0) }

// firstHops notes the hop limit of the first packet.
func (c *Connection) firstHops(p *packet.Packet) {
	c.state &^= hops
	if p.Encap.OnIP() && p.HopLmt <= MostHops {
		c.state |= state(p.HopLmt) * hops0
	}
}

// Dead reports whether a connection was merged into another.
func (c *Connection) Dead() bool { return c.state&dead != 0 }

// Leaving reports whether a connection is judged to its end, and forgotten.
func (c *Connection) Leaving() bool { return c.state&leaving != 0 }

// Leave has a connection be judged to its end, and forgotten, or stay.
func (c *Connection) Leave(leaves bool) {
	c.state &^= leaving
	if leaves {
		c.state |= leaving
	}
}

// Watched reports whether a connection was neither merged into another nor forgotten.
func (c *Connection) Watched() bool { return c.state&(dead|leaving) == 0 }

// FirstOp is the opcode of the first packet.
func (c *Connection) FirstOp() packet.Opcode { return packet.Opcode(c.first >> 24) }

// FirstPSN is the PSN of the first packet.
func (c *Connection) FirstPSN() packet.PSN { return packet.PSN(c.first & packet.PSNMask) }

// begins notes the first packet.
func (c *Connection) begins(p *packet.Packet) {
	c.FirstTime, c.FirstFrame, c.FirstTap, c.first = p.Time, p.Frame, p.Tap, firstOf(p)
	c.firstHops(p)
}

// firstOf is the opcode and the PSN of a packet.
func firstOf(p *packet.Packet) uint32 { return uint32(p.Opcode)<<24 | uint32(p.PSN&packet.PSNMask) }

// beginsAs notes the first packet of another connection.
func (c *Connection) beginsAs(k *Connection) {
	c.FirstTime, c.FirstFrame, c.FirstTap, c.first = k.FirstTime, k.FirstFrame, k.FirstTap, k.first
	c.state = c.state&^hops | k.state&hops
}

// doubt is what is kept of a connection for which a packet may have been that went to a wrong QP, or which may have had one.
type doubt struct {
	rightful    uint32         // end of a connection plus one that seems to have sent the first packet, to a wrong QP
	rival       uint32         // connection plus one that seems to go on with what this one has begun, to another QP: see unpairMisdirected
	astray      uint32         // connection plus one whose first packet this one is, that went to a wrong QP
	misdirected *packet.Packet // first packet, where it is a response that another connection waits for
	qpnMismatch *qpnMismatch   // nil: CM gave the numbers that are used
}

// doubt returns what is doubtful about a connection.
func (c *Connection) doubt() doubt {
	if d, ok := c.Beside.(*doubt); ok {
		return *d
	}
	return doubt{}
}

// doubted returns what is doubtful about a connection, to be written.
func (c *Connection) doubted() *doubt {
	d, ok := c.Beside.(*doubt)
	if !ok {
		d = new(doubt)
		c.Keep(d)
	}
	return d
}

// followed is what is kept of a connection that is looked at as the run goes.
type followed struct {
	counted uint64 // packets that both ends had sent when mark looked last
	active  int64  // when mark found that to have grown
	number  uint64 // by which a survey names it; 0: none has seen it
}

// follow returns what is kept of a connection that is looked at.
func (s *pairs) follow(i uint32) *followed {
	if n := len(s.followed); n < int(s.n) {
		s.followed = append(s.followed, make([]followed, int(s.n)-n)...)
	}
	return &s.followed[i]
}

// Count adds a packet to the sums of its sender.
func (c *Connection) Count(from int, p *packet.Packet) {
	c.Ends[from].CountPacket(p.PayloadLen)
	if p.Cut {
		c.Lossy, c.Ends[from].Cut = true, true // a damaged packet cannot be told from a good one
	}
}

// QPs returns the pair of QPs of a connection, or nil of nil.
func (c *Connection) QPs() *qp.Pair {
	if c == nil {
		return nil
	}
	return &c.Pair
}

// Listed reports whether a connection is listed: among all of them, or those that leave before the end.
func (c *Connection) Listed(leaving bool) bool {
	return !c.Dead() && (c.Leaving() || !leaving) && (c.Ends[0].Packets()+c.Ends[1].Packets() > 0 || c.PairedBy == ByCM)
}

// FetchShown fetches, of the connections of a list from i on, what show needs.
func FetchShown(n, i int, at func(i int) *Connection, l *cache.Lines) {
	if k := i + 2*Lead; k < n {
		c := at(k)
		l.Add(unsafe.Pointer(c))
		QPs(c).FetchEnds(l)
	}
	if k := i + Lead; k < n {
		QPs(at(k)).FetchSums(l)
	}
	l.Fetch()
}

func (s *pairs) at(i uint32) *Connection { return s.list[i] }

// add appends a connection of two directions.
func (s *pairs) add() (uint32, *Connection) {
	i, c := s.addOneWay()
	c.Both()
	return i, c
}

// addOneWay appends a connection of which one direction is known.
func (s *pairs) addOneWay() (uint32, *Connection) {
	var c *Connection
	if last := len(s.free) - 1; last >= 0 {
		c, s.free = s.free[last], s.free[:last]
		*c = Connection{}
	} else {
		c = new(Connection)
	}
	c.Connect(qp.NewDirection(), nil)
	for k, at := range [...]unsafe.Pointer{unsafe.Pointer(c), unsafe.Pointer(c.Ends[0].Direction)} {
		if n := uintptr(at) / cache.Growth; s.n >= fetched && n != s.near[k] {
			s.near[k] = n
			s.prepare(at)
		}
	}
	i := s.n
	s.list = append(s.list, c)
	s.n++
	return i, c
}

// prepare asks for large pages where the heap grows, before connections are there: it costs next to nothing then.
func (s *pairs) prepare(at unsafe.Pointer) {
	if s.large == nil {
		s.large = map[uintptr]bool{}
	}
	for _, page := range cache.LargePagesAhead(at) {
		if page != 0 {
			s.large[page] = true
		}
	}
}

// worthwhile is how many packets a connection must have, in the mean, for large pages to be worth what the system needs to gather one.
const worthwhile = 4

// settle notes that so many more packets are to be verified. Of many connections it asks for one more large page where some of them are.
func (s *pairs) settle(packets int) {
	s.packets += uint64(packets)
	if s.n < fetched || s.packets < worthwhile*uint64(s.n) {
		return
	}
	for ; s.settled < s.n; s.settled++ {
		c := s.list[s.settled]
		for _, at := range [...]unsafe.Pointer{unsafe.Pointer(c), unsafe.Pointer(c.Ends[0].Direction), unsafe.Pointer(c.Ends[1].Direction)} {
			if page := uintptr(at) / cache.LargePage; !s.large[page] {
				if s.large == nil {
					s.large = map[uintptr]bool{}
				}
				s.large[page] = true
				cache.LargePagesAt(at)
				return
			}
		}
	}
}

// mostFree is how many connections are kept to be used again: most are merged soon after they began, and where there are more, others need the memory.
const mostFree = 1024

// bury frees the memory of a connection that was merged into another, c: what it sent to host pair h, end from of c has sent. No flow leads to it any more.
func (t *Table) bury(i uint32, h *Host, c *Connection, from int) {
	s := &t.pairs
	gone := s.list[i]
	t.Judge.Merged(c, gone, from)
	if gone.state&kept != 0 {
		return
	}
	for dir := range h.stations {
		if end := &h.stations[dir].end; *end == &gone.Ends[0] || *end == &gone.Ends[1] {
			*end = nil
		}
		if m := h.Marks[dir]; m != nil {
			m.Merge(&gone.Pair, &c.Pair, from)
		}
	}
	if s.gone == nil {
		s.gone = &Connection{state: dead}
		s.gone.Connect(qp.NewDirection(), nil)
	}
	if s.list[i] = s.gone; len(s.free) < mostFree {
		s.free = append(s.free, gone)
	}
}

// merge makes one connection of two directions that were followed apart: to, whose requests the responses of gone answer. psn is
// that of the response that tells. It returns which ends have sent a response before that one.
func merge(to, gone *Connection, psn packet.PSN) (responded [2]bool) {
	a, b := &to.Ends[0], &to.Ends[1]
	lone, sent := [2]qp.LoneResponse{a.Lone(), gone.Ends[0].Lone()}, gone.Ends[0].Packets()
	waits, cut := [2]int64{gone.Ends[1].SQ.Waits(), b.SQ.Waits()}, to.Cut() || gone.Cut()
	if to.Encap != gone.Encap && sent > 1 && a.Packets() == 2 {
		to.Encap, a.Flow.State = gone.Encap, qp.FlowNew // of the two packets of the one end the first is the odd one
	}
	a.Count(&gone.Ends[1])
	to.Adopt(&gone.Pair, gone.state&kept == 0)
	for i, l := range lone {
		to.RQ(i).NAKedAt(l.NAKTime)
		if l.Newest == packet.NAKSequence {
			to.Ends[1-i].SQ.NoteNAK(l.PSN.Add(1), l.NAKTime)
		}
	}
	a.Number, a.Numbered = gone.Ends[1].Number, true
	to.Lossy, to.Ends[0].Cut, to.Invalidated = to.Lossy || gone.Lossy, cut, to.Invalidated || gone.Invalidated
	to.ShowPayload(gone.LeastPMTU())
	to.Paired, to.PairedBy = true, ByPSN
	if gone.FirstTime < to.FirstTime {
		to.FirstTime, to.FirstFrame, to.FirstTap = gone.FirstTime, gone.FirstFrame, gone.FirstTap
		to.state = to.state&^hops | gone.state&hops
		if w := a.SQ.Messages.Oldest(); w != nil && w.Op == wqe.Read && w.First == a.SQ.First {
			w.Flags |= wqe.Guessed // it may be the tail of one that was being answered when the capture began
		}
	}
	gone.state |= dead
	unpair(to, lone, sent, psn)
	for i, until := range waits {
		if until != 0 {
			to.Ends[i].SQ.WaitTo(until)
		}
	}
	return [2]bool{lone[0].Seen, lone[1].Seen}
}

// unpair ends the time in which the responses to the requests of a connection were not known, as merge does. lone is what the responses of its ends
// had shown, and sent how many packets the second one had sent.
func unpair(to *Connection, lone [2]qp.LoneResponse, sent uint64, psn packet.PSN) {
	a, b := &to.Ends[0], &to.Ends[1]
	a.SQ.Unpair(psn, to.Sees(0))
	if lone[1].Seen {
		a.SQ.AnswerBeforeCapture(b.Packets()) // it has responded to what was sent before the capture
	}
	if r := &lone[1]; r.Seen && r.PSN.After(psn) && abs(r.PSN.Diff(psn)) < near*8 {
		a.SQ.ImplyNAKs(psn, a.SQ.Last.Time, sent)
	}
	last := lone[0].PSN
	switch oldest := b.SQ.Messages.Oldest(); {
	case lone[0].Seen && (!b.SQ.Joined || abs(last.Diff(b.SQ.Next)) < near*8): // a response far away had a wrong PSN
		b.SQ.Unpair(last.Add(1), to.Sees(1))
	case oldest != nil:
		b.SQ.Unpair(oldest.First, to.Sees(1))
	default:
		b.SQ.Unpair(b.SQ.Next, to.Sees(1))
	}
}

// near is how many PSNs a response may be from those of a connection to belong to it.
const near = 4096

// Nearby reports whether a response with one PSN may belong to a connection that has shown another.
func Nearby(a, b packet.PSN) bool { return abs(a.Diff(b)) < near }

func abs(n int) int { return max(n, -n) }
