package cq

import (
	"slices"
	"sort"

	"ibwitness/packet"
	"ibwitness/wqe"
)

// Requests are the requests of one queue pair to another and the responses to them, as the verifier of messages tells them. They are counted by ordinals: the
// number of a packet from the start PSN on, which does not wrap.
type Requests struct {
	start      packet.PSN // of ordinal 0
	started    bool
	anchor     bool   // the start PSN is that of the queue pair's attributes, and not just the first that was seen
	pmtu       uint32 // 0: not known
	sized      bool   // packets have shown it
	unreliable bool   // of UC: nothing is retransmitted
	lead       int64  // how far before the start PSN they may begin; 0: what is there is of an earlier life or connection
	early      bool   // they have begun before the start PSN, which was due
	due        packet.PSN
	requester  *queuePair
	responder  *queuePair
	assembler  Assembler // nil: no packet has come

	high    int64 // after the highest ordinal seen
	joined  int64 // ordinal of the first packet that was seen: the capture may begin there
	first   PacketRef
	newest  PacketRef
	msgs    list[*Message]
	begun   []WriteBegun // since they were last asked for
	storing []storing    // by messages that have not come whole
	found   int          // message that was last looked for
	stopped string       // why they are not followed any more
	opens   bool         // a message has begun that goes on, and has not been compared
	opensAt int64        // its ordinal
	answers int          // counts what may answer a request, or end its retries
	news    bool         // something has come that a request or a completion may be judged by

	again   map[int64]int // packets retransmitted, by ordinal
	backs   []int64       // where the requester has gone back to, each time
	backTo  int64         // after the newest packet that was retransmitted, if no new one has come since
	mixed   bool          // a PSN was retransmitted with another packet, the least at mixedAt
	mixedAt int64

	acks           []ack
	ahead          []ack // of what had not come, the newest
	naks           []NAK
	naksGone       int   // how many before those are forgotten
	fatal          *NAK  // the first that ended the connection; nil: none
	fatals         int   // how many have
	odd            []NAK // responses that do not fit the request
	unusual        int64 // after the highest ordinal that a response is of which a requester may take for one that does not
	responded      PacketRef
	newestResponse PacketRef

	dropped []*Message // datagrams with another Q_Key
	spoiled []*Message // messages of UC and UD with a wrong ICRC

	departed []departure // of messages that have not been compared
}

// Assembler makes messages of the packets of some requests. It keeps what has come of those that are not whole.
type Assembler interface {
	// GiveUp tells what there is of the messages before packets that are missing, which nobody retransmits.
	GiveUp()
	// Finish tells what there is of all messages: nothing more comes.
	Finish()
	// Open returns what there is of the message of an ordinal, nil if nothing or if it has been reported.
	Open(ord int64) *Message
	// OpenBefore is how many of the messages that are not whole have begun up to a packet.
	OpenBefore(pos int) int
	// ReportedTo is the ordinal up to which messages have been reported.
	ReportedTo() int64
}

// ack says that everything up to an ordinal is acknowledged.
type ack struct {
	ord   int64
	at    PacketRef
	named bool // it names that packet, and does not just follow it
}

// WriteBegun is the first packet of a WRITE.
type WriteBegun struct {
	Ord, Time int64
	VA        uint64
	DMALen    uint32
}

// AssembledBy says who makes messages of the packets.
func (s *Requests) AssembledBy(a Assembler) { s.assembler = a }

// Assembler is who makes messages of the packets, nil if no packet has come.
func (s *Requests) Assembler() Assembler { return s.assembler }

// Started reports whether it is known which PSN has ordinal 0.
func (s *Requests) Started() bool { return s.started }

// PMTU is the path MTU in bytes, 0 where it is not known.
func (s *Requests) PMTU() uint32 { return s.pmtu }

// Unreliable reports whether nothing is retransmitted.
func (s *Requests) Unreliable() bool { return s.unreliable }

// High is the ordinal after the highest that was seen.
func (s *Requests) High() int64 { return s.high }

// Ordinal is the ordinal of a PSN near what was seen.
func (s *Requests) Ordinal(p packet.PSN) int64 {
	return s.high + int64(p.Diff(s.start.Add(int(s.high&packet.PSNMask))))
}

// followed reports whether the ordinals are those of the queue pair's attributes, and are still followed.
func (s *Requests) followed() bool { return s.anchor && s.stopped == "" }

// begin sets where the ordinals start, if that is not set.
func (s *Requests) begin(p packet.PSN, anchor bool) {
	if !s.started {
		s.start, s.started, s.anchor = p, true, anchor
	}
}

// How far before the start PSN requests may begin: a packet before that is rather one of another queue pair, which went astray, or of an earlier one, where it is
// not known when the queue pair came to be.
const (
	mostEarly      = 4096
	mostEarlyApart = 64
)

// Packet says that a packet of a request has come, whatever it is, and returns its ordinal. Where the first one comes before the start PSN, the requests begin there.
func (s *Requests) Packet(at *PacketRef) (ord int64) {
	ord = s.Ordinal(at.PSN)
	if !s.first.Seen() {
		s.first, s.news = *at, true
		if ord < 0 && ord >= -s.lead {
			s.due, s.start, ord = s.start, at.PSN, 0
			s.early = true
		}
	}
	s.newest = *at
	if s.high == 0 {
		s.joined = ord
		s.answers++
	}
	return ord
}

// Extend says that n PSNs from an ordinal on have come for the first time. It reports whether later ones had come before them.
func (s *Requests) Extend(ord, n int64) (filled bool) {
	if filled = ord < s.high; filled {
		s.news = true
	} else {
		s.backTo = 0
	}
	s.high = max(s.high, ord+n)
	return filled
}

// Next is the PSN after the highest that was seen.
func (s *Requests) Next() packet.PSN { return s.start.Add(int(s.high & packet.PSNMask)) }

// GoesOn says that the packet with the next PSN has come, and neither begins nor ends a message: it is Packet and Extend for that, where packets have come before.
func (s *Requests) GoesOn(at *PacketRef) {
	s.newest, s.backTo = *at, 0
	s.high++
}

// Opens says that a message has begun at an ordinal, and goes on.
func (s *Requests) Opens(ord int64) { s.opens, s.opensAt = true, ord }

// opened is what there is of the newest message that has begun, once: nil if it came whole, or if something before it is missing.
func (s *Requests) opened() *Message {
	if !s.opens {
		return nil
	}
	if s.opens = false; s.reportedTo() != s.opensAt {
		return nil
	}
	return s.open(s.opensAt)
}

// News says that a request or a completion may be judged by what has come.
func (s *Requests) News() { s.news = true }

// Stop says why the requests are not followed any more.
func (s *Requests) Stop(why string) { s.stopped = why }

// Begin says that a WRITE has begun.
func (s *Requests) Begin(w WriteBegun) { s.begun = append(s.begun, w) }

// End says that a message has ended, or that nothing more of it comes.
func (s *Requests) End(m *Message) {
	if !s.sized && m.Packets > 1 {
		s.size(m)
	}
	s.msgs.add(m)
}

// size takes over which path MTU the first message of several packets shows: the READs of a queue pair that works with another one than it was given take other PSNs.
func (s *Requests) size(m *Message) {
	if op := wqe.OpOf(m.Op.Fn()); m.Partial || m.Mixed || m.Other || op != wqe.Send && op != wqe.Write {
		return
	}
	if mtu := sizeOf(m); mtu != 0 {
		s.sized, s.pmtu = true, mtu
	}
}

// Retransmitted says that a packet was retransmitted.
func (s *Requests) Retransmitted(ord int64) {
	s.news = true
	s.answers++
	if s.again == nil {
		s.again = map[int64]int{}
	}
	s.again[ord]++
	if ord < s.backTo || s.backTo == 0 {
		s.backs = append(s.backs, ord)
	}
	s.backTo = ord + 1
}

// Differs says that a PSN was retransmitted with another packet, at an ordinal or in the message that begins there.
func (s *Requests) Differs(ord int64) {
	if !s.mixed || ord < s.mixedAt {
		s.mixed, s.mixedAt = true, ord
	}
}

// Response says that a response has come, whatever it is.
func (s *Requests) Response(at *PacketRef) {
	if !s.responded.Seen() {
		s.responded = *at
	}
	s.newestResponse = *at
}

// Misfit says that a response does not fit its request.
func (s *Requests) Misfit(n NAK) { s.odd, s.news = append(s.odd, n), true }

// Unusual says that a response to an ordinal fits its request, but a requester may find that it does not.
func (s *Requests) Unusual(ord int64) { s.unusual = max(s.unusual, ord+1) }

// WasRetransmitted reports whether a packet was retransmitted.
func (s *Requests) WasRetransmitted(ord int64) bool { return s.again[ord] > 0 }

// Acknowledged says that everything up to an ordinal is acknowledged. named says that the response names that packet, and does not just follow it.
func (s *Requests) Acknowledged(ord int64, at *PacketRef, named bool) {
	if n := len(s.acks); n == 0 && ord >= 0 || n > 0 && ord > s.acks[n-1].ord {
		s.acks = append(s.acks, ack{ord, *at, named})
		s.answers++
	}
}

// mostAhead is how many responses are kept to what had not come.
const mostAhead = 64

// AcknowledgedAhead says that a response acknowledges everything up to an ordinal, and that it answers what has not come: that may be on its way to the tap.
func (s *Requests) AcknowledgedAhead(ord int64, at *PacketRef) {
	if n := len(s.ahead) - mostAhead; n >= 0 {
		s.ahead = slices.Delete(s.ahead, 0, n+1)
	}
	s.ahead = append(s.ahead, ack{ord: ord, at: *at})
	s.answers++
}

// Answered says that the response to a READ or an atomic has begun, or come whole.
func (s *Requests) Answered() { s.answers++ }

// Refused says that a NAK has come.
func (s *Requests) Refused(n NAK) {
	s.answers++
	if s.naks = append(s.naks, n); !n.Syndrome.Fatal() {
		return
	}
	if s.fatals++; s.fatal == nil {
		s.fatal = &n
	}
}

// ackOf returns the first response that acknowledges an ordinal, or nil. It is valid until the next packet.
func (s *Requests) ackOf(ord int64) *PacketRef {
	if n := len(s.acks); n == 0 || s.acks[n-1].ord < ord {
		return nil
	}
	return &s.acks[s.ackAt(ord)].at
}

// ackAt is the place of the first response that acknowledges an ordinal: nearly always it is one of the newest.
func (s *Requests) ackAt(ord int64) int {
	n := len(s.acks)
	for least := max(n-8, 0); n > least; n-- {
		if s.acks[n-1].ord < ord {
			return n
		}
	}
	return sort.Search(n, func(i int) bool { return s.acks[i].ord >= ord })
}

// ackNames reports whether the first response that acknowledges an ordinal names it: any other may be the next after one that the
// capture has missed.
func (s *Requests) ackNames(ord int64) bool {
	i := s.ackAt(ord)
	return i < len(s.acks) && s.acks[i].ord == ord && s.acks[i].named
}

// Find returns the message that an ordinal belongs to, or nil: there is none, or it is forgotten.
func (s *Requests) Find(ord int64) *Message {
	for n := max(s.found-1, s.msgs.first()); n < s.msgs.end() && n <= s.found+1; n++ { // nearly always
		if m := s.msgs.at(n); m.First <= ord && ord <= m.Last() {
			s.found = n
			return m
		}
	}
	list := s.msgs.all()
	i := sort.Search(len(list), func(i int) bool { return list[i].First > ord }) - 1
	if i < 0 || ord > list[i].Last() {
		return nil
	}
	s.found = s.msgs.first() + i
	return list[i]
}

// giveUp has the assembler tell what there is of messages that nobody retransmits.
func (s *Requests) giveUp() {
	if s.assembler != nil {
		s.assembler.GiveUp()
	}
}

// finish has the assembler tell what there is of all messages.
func (s *Requests) finish() {
	if s.assembler != nil {
		s.assembler.Finish()
	}
}

// open returns what there is of the message of an ordinal that is not whole, or nil.
func (s *Requests) open(ord int64) *Message {
	if s.assembler == nil {
		return nil
	}
	return s.assembler.Open(ord)
}

// openBefore is how many messages that are not whole have begun up to a packet.
func (s *Requests) openBefore(pos int) int {
	if s.assembler == nil {
		return 0
	}
	return s.assembler.OpenBefore(pos)
}

// reportedTo is the ordinal up to which messages have been reported.
func (s *Requests) reportedTo() int64 {
	if s.assembler == nil {
		return 0
	}
	return s.assembler.ReportedTo()
}
