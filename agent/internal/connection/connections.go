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
	gone *Connection // replaces all that were merged into another, so that their memory is free again
	// large are the places of memory, by large page, that were asked to be large pages, for the connections before settled.
	large   map[uintptr]bool
	settled uint32
	near    uintptr // the memory that the newest connection is in, by cache.Growth
	packets uint64  // that were verified
}

// Connection is a pair of QPs and what only the report wants of it.
type Connection struct {
	PairedBy   PairedBy
	Dead       bool  // merged into another
	kept       bool  // another is misdirected from it
	Leaving    bool  // it is judged to its end, and forgotten
	initiator  uint8 // of XRC: the end that sends the requests, plus one; 0: not known
	FirstTap   uint16
	FirstOp    packet.Opcode
	rightful   uint32 // end of a connection plus one that seems to have sent the first packet, to a wrong QP
	FirstPSN   packet.PSN
	rival      uint32 // connection plus one that seems to go on with what this one has begun, to another QP: see unpairMisdirected
	astray     uint32 // connection plus one whose first packet this one is, that went to a wrong QP
	FirstTime  int64
	FirstFrame uint64

	pairedPSN packet.PSN // of the response that paired it, ByPSN
	pairedTap uint16
	pairedOp  packet.Opcode
	// All this is, with the 8 bytes that the allocator puts before it, a line: see qp.QP.
	qp.Pair

	misdirected *packet.Packet // first packet, where it is a response that another connection waits for
	qpnMismatch *qpnMismatch   // nil: CM gave the numbers that are used

	counted uint64 // packets that both ends had sent when mark looked last
	Active  int64  // when mark found that to have grown
	number  uint64 // by which a survey names it; 0: none has seen it
}

// Count adds a packet to the sums of its sender.
func (c *Connection) Count(from int, p *packet.Packet) {
	c.Ends[from].Sums.Add(p)
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
	return !c.Dead && (c.Leaving || !leaving) && (c.Ends[0].Sums.Packets+c.Ends[1].Sums.Packets > 0 || c.PairedBy == ByCM)
}

// FetchShown fetches what show needs.
func (c *Connection) FetchShown(l *cache.Lines) {
	l.Add(unsafe.Pointer(c))
	QPs(c).FetchSums(l)
	l.Fetch()
}

func (s *pairs) at(i uint32) *Connection { return s.list[i] }

// add appends a connection.
func (s *pairs) add() (uint32, *Connection) {
	c := new(Connection)
	if at := uintptr(unsafe.Pointer(c)) / cache.Growth; s.n >= fetched && at != s.near {
		s.near = at
		s.prepare(unsafe.Pointer(c))
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
		at := unsafe.Pointer(s.list[s.settled])
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

// bury frees the memory of a connection that was merged into another.
func (s *pairs) bury(i uint32) {
	if !s.list[i].kept {
		if s.gone == nil {
			s.gone = &Connection{Dead: true}
		}
		s.list[i] = s.gone
	}
}

// merge makes one connection of two directions that were followed apart: to, whose requests the responses of gone answer. psn is
// that of the response that tells.
func merge(to, gone *Connection, psn packet.PSN) {
	a, b := &to.Ends[0], &to.Ends[1]
	responded, last := a.RQ.Last.Seen, a.RQ.Last.PSN
	waits, nakTime := [2]int64{gone.Ends[1].SQ.Waits(), b.SQ.Waits()}, a.RQ.NAK.Time
	b.SQ, a.RQ, b.Flow = gone.Ends[0].SQ, gone.Ends[1].RQ, gone.Ends[0].Flow
	a.RQ.NAK.Time, b.RQ.NAK.Time = max(a.RQ.NAK.Time, nakTime), max(b.RQ.NAK.Time, gone.Ends[0].RQ.NAK.Time)
	a.Number, a.Numbered = gone.Ends[1].Number, true
	if to.Encap != gone.Encap && gone.Ends[0].Sums.Packets > 1 && a.Sums.Packets == 2 {
		to.Encap, a.Flow.State = gone.Encap, qp.FlowNew // of the two packets of the one end the first is the odd one
	}
	count(b, &gone.Ends[0])
	count(a, &gone.Ends[1])
	to.Lossy, to.Ends[0].Cut, to.Invalidated = to.Lossy || gone.Lossy, to.Cut() || gone.Cut(), to.Invalidated || gone.Invalidated
	to.LeastPMTU = max(to.LeastPMTU, gone.LeastPMTU)
	to.Paired, to.PairedBy = true, ByPSN
	if gone.FirstTime < to.FirstTime {
		to.FirstTime, to.FirstFrame, to.FirstTap = gone.FirstTime, gone.FirstFrame, gone.FirstTap
		if w := a.SQ.Messages.Oldest(); w != nil && w.Op == wqe.Read && w.First == a.SQ.First {
			w.Flags |= wqe.Guessed // it may be the tail of one that was being answered when the capture began
		}
	}
	gone.Dead = true
	unpair(to, gone, psn, responded, last)
	for i, until := range waits {
		if until != 0 {
			to.Ends[i].SQ.WaitTo(until)
		}
	}
}

// unpair ends the time in which the responses to the requests of a connection were not known, as merge does. responded says that its first end had sent
// responses, the newest with PSN last.
func unpair(to, gone *Connection, psn packet.PSN, responded bool, last packet.PSN) {
	a, b := &to.Ends[0], &to.Ends[1]
	a.SQ.Unpair(psn, to.Sees(0))
	if gone.Ends[0].RQ.Last.Seen {
		a.SQ.AnswerBeforeCapture(b.Sums.Packets) // it has responded to what was sent before the capture
	}
	if r := &gone.Ends[0].RQ; r.Last.Seen && r.Last.PSN.After(psn) && abs(r.Last.PSN.Diff(psn)) < near*8 {
		a.SQ.ImplyNAKs(psn, a.SQ.Last.Time, gone.Ends[0].Sums.Packets)
	}
	switch oldest := b.SQ.Messages.Oldest(); {
	case responded && (!b.SQ.Joined || abs(last.Diff(b.SQ.Next)) < near*8): // a response far away had a wrong PSN
		b.SQ.Unpair(last.Add(1), to.Sees(1))
	case oldest != nil:
		b.SQ.Unpair(oldest.First, to.Sees(1))
	default:
		b.SQ.Unpair(b.SQ.Next, to.Sees(1))
	}
}

// count adds what another has sent, which was this one, to the sums of a queue pair.
func count(q, b *qp.QP) {
	q.Sums = add(q.Sums, b.Sums)
	q.Faults = addFaults(q.Faults, b.Faults)
}

func add(a, b qp.Sums) qp.Sums {
	return qp.Sums{Packets: a.Packets + b.Packets, Bytes: a.Bytes + b.Bytes, Messages: a.Messages + b.Messages}
}

func addFaults(a, b qp.Faults) qp.Faults {
	return qp.Faults{
		Retransmissions: a.Retransmissions + b.Retransmissions, Duplicates: a.Duplicates + b.Duplicates,
		NAKs: a.NAKs + b.NAKs, SequenceNAKs: a.SequenceNAKs + b.SequenceNAKs, RNRNAKs: a.RNRNAKs + b.RNRNAKs,
	}
}

// near is how many PSNs a response may be from those of a connection to belong to it.
const near = 4096

// Nearby reports whether a response with one PSN may belong to a connection that has shown another.
func Nearby(a, b packet.PSN) bool { return abs(a.Diff(b)) < near }

func abs(n int) int { return max(n, -n) }
