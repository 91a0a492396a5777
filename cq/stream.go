package cq

import (
	"hash/crc32"
	"sort"

	"ibwitness/packet"
	"ibwitness/wqe"
)

// stream is the requests of one queue pair to another as the wire shows them, by ordinal: the number of a packet from the start PSN on,
// which does not wrap. What came whole is kept as messages, the rest as packets.
type stream struct {
	start      packet.PSN // of ordinal 0
	started    bool
	anchor     bool   // the start PSN is that of the queue pair's attributes, and not just the first that was seen
	pmtu       uint32 // 0: not known
	base       int64  // ordinal of parts[0]
	high       int64  // after the highest ordinal seen
	parts      []part
	msgs       list[*message]
	again      map[int64]int // packets retransmitted, by ordinal
	backs      []int64       // where the requester has gone back to, each time
	backTo     int64         // after the newest packet that was retransmitted, if no new one has come since
	first      where         // the first packet
	newest     where
	acks       []ack
	naks       []nak
	naksGone   int   // how many before those are forgotten
	odd        []nak // responses that do not fit the request
	answer     where // first response
	replied    where // newest one
	halted     string
	dropped    []*message // datagrams with another Q_Key
	spoiled    []*message // messages of UC and UD with a wrong ICRC
	joined     int64      // ordinal of the first packet that was seen: the capture may begin there
	heads      []*head    // not in use
	requester  *queuePair
	responder  *queuePair
	begun      []beginning    // WRITEs of which the first packet has come since they were last asked for
	unreliable bool           // of UC: nothing is retransmitted
	givenUp    map[int64]bool // ordinals of packets that were missing, and that may yet come
	found      int            // message that was last looked for
	mixed      bool           // a PSN was retransmitted with another packet, the least at mixedAt
	mixedAt    int64
	rerun      rerun
	news       bool // something has come that a request or a completion may be judged by
}

// beginning is the first packet of a WRITE.
type beginning struct {
	ord, time int64
	va        uint64
	dma       uint32
}

// part is one packet of a message that is not whole yet.
type part struct {
	op     packet.Opcode
	seen   bool
	cut    bool // not all of the payload was captured
	length uint32
	crc    uint32 // of the payload; where it follows, of that of the packets before it as well
	at     where
	head   *head

	follows bool // the packet before it came before it, and is of the same message
	mixed   bool // its PSN was retransmitted with another packet
	other   bool // so did that of a READ, as one for other memory
}

// head is what the headers of a message's packets say.
type head struct {
	va            uint64
	rkey, dma     uint32
	swap, compare uint64
	imm, inv      uint32
	se            bool
	hasImm, inval bool
	qkey, srcQP   uint32
	feth          uint32
	grh           bool
	av            *vector // of a datagram
	srq           uint32  // XRC: the shared receive queue
}

// message is a message that came whole, or at Finish what there is of it.
type message struct {
	head
	first   int64
	packets int
	op      packet.Opcode // of its first packet
	length  uint32        // bytes of payload; of a READ, that it asks for
	crc     uint32
	begin   where
	end     where
	partial bool
	cut     bool    // of its payload not all was captured
	mixed   bool    // a PSN of it was retransmitted with another packet: it is not known which the responder took
	other   bool    // so did that of a READ, as one for other memory
	read    *answer // READ or atomic: what was answered
	used    bool    // a receive completion is of it
}

func (m *message) last() int64 { return m.first + int64(m.packets) - 1 }

// answer is the response to a READ or an atomic.
type answer struct {
	pieces  []piece // by packet
	seen    int
	at      where // of the last packet that made it whole
	orig    uint64
	crc     uint32
	length  uint32
	whole   bool
	cut     bool  // of its payload not all was captured
	mixed   bool  // a part was retransmitted with other data, since memory had changed: it is not known which the requester took
	touched where // its first packet
}

// ack says that everything up to an ordinal is acknowledged.
type ack struct {
	ord   int64
	at    where
	named bool // it names that packet, and does not just follow it
}

// nak is a negative acknowledgement.
type nak struct {
	ord      int64
	syndrome packet.Syndrome
	at       where
}

// window is how many packets beyond those that came whole are followed.
const window = 1 << 17

// mostMissing is how many packets of UC come before what is missing is given up.
const mostMissing = 4096

// headStart is how many packets at the beginning may come later than the first that was seen: lost, and retransmitted.
const headStart = 4096

// ordinal is the ordinal of a PSN near what was seen.
func (s *stream) ordinal(p packet.PSN) int64 {
	return s.high + int64(p.Diff(s.start.Add(int(s.high&packet.PSNMask))))
}

// begin sets where the ordinals start, if that is not set.
func (s *stream) begin(p packet.PSN, anchor bool) {
	if !s.started {
		s.start, s.started, s.anchor = p, true, anchor
	}
}

// request adds a packet.
func (s *stream) request(p *packet.Packet, at where) {
	in := p.Info()
	if !s.first.seen() {
		s.first, s.news = at, true
	}
	s.newest = at
	ord := s.ordinal(p.PSN)
	if s.high == 0 {
		s.joined = ord
		if ord > headStart {
			s.base = ord
		}
	}
	if ord < s.base || ord-s.base > window {
		switch {
		case ord >= s.base:
		case s.givenUp[ord]:
			s.news = true
			s.comesLate(ord, p, at)
		default:
			s.resent(ord)
			s.messageAgain(ord, p)
		}
		return
	}
	n := 1
	if p.Opcode.Fn() == packet.ReadRequest {
		if s.pmtu == 0 {
			s.halted = "the path MTU is not known"
			return
		}
		if n = wqe.Packets(p.DMALen, s.pmtu); n > window {
			s.halted = "a READ is longer than is followed"
			return
		}
	}
	i := int(ord - s.base)
	for len(s.parts) < i+n {
		s.parts = append(s.parts, part{})
	}
	if s.parts[i].seen {
		s.resent(ord)
		s.partAgain(i, p)
		return
	}
	x := part{op: p.Opcode, seen: true, length: uint32(p.PayloadLen), at: at, cut: p.PayloadLen != len(p.Payload)}
	switch x.follows = i > 0 && (in.Middle || in.Last) && s.parts[i-1].seen && !s.parts[i-1].cut; {
	case x.cut:
		x.follows = false
	case x.follows:
		x.crc = crc32.Update(s.parts[i-1].crc, crc32.IEEETable, p.Payload)
	default:
		x.crc = sum(p.Payload)
	}
	if !in.Middle || p.SE {
		x.head = s.headOf(p)
	}
	s.parts[i] = x
	for k := 1; k < n; k++ {
		s.parts[i+k] = part{op: p.Opcode, seen: true}
	}
	if ord >= s.high {
		s.backTo = 0
	}
	if p.Has&packet.HasRETH != 0 && wqe.OpOf(p.Opcode.Fn()) == wqe.Write {
		s.begun = append(s.begun, beginning{ord, at.time, p.VA, p.DMALen})
	}
	filled := ord < s.high
	s.news = s.news || filled || p.SE
	s.high = max(s.high, ord+int64(n))
	if in.Last || in.Only || filled {
		s.fold()
	}
	if s.unreliable && len(s.parts) > mostMissing {
		s.giveUp()
	}
}

func (s *stream) resent(ord int64) {
	s.news = true
	if s.again == nil {
		s.again = map[int64]int{}
	}
	s.again[ord]++
	if ord < s.backTo || s.backTo == 0 {
		s.backs = append(s.backs, ord)
	}
	s.backTo = ord + 1
}

// headOf is headOf in room that the stream has.
func (s *stream) headOf(p *packet.Packet) *head {
	n := len(s.heads) - 1
	if n < 0 {
		h := headOf(p)
		return &h
	}
	h := s.heads[n]
	s.heads = s.heads[:n]
	*h = headOf(p)
	return h
}

func headOf(p *packet.Packet) head {
	h := head{
		va: p.VA, rkey: p.RKey, dma: p.DMALen, swap: p.SwapAdd, compare: p.Compare, imm: p.Imm, inv: p.InvRKey, se: p.SE,
		hasImm: p.Has&packet.HasImmDt != 0, inval: p.Has&packet.HasIETH != 0, qkey: p.QKey, srcQP: p.SrcQP, feth: p.FETH, srq: p.XRCSRQ,
		grh: p.Has&packet.HasGRH != 0 || p.Encap != packet.Native,
	}
	if p.Has&packet.HasDETH != 0 {
		h.av = vectorOf(p)
	}
	return h
}

// fold makes messages of the packets that came whole.
func (s *stream) fold() {
	done := 0
	for done < len(s.parts) {
		n := s.whole(s.parts[done:])
		if n > 0 {
			s.msgs.add(s.collect(s.base+int64(done), s.parts[done:done+n]))
			done += n
			continue
		}
		if x := &s.parts[done]; !x.seen || x.op.Info().First || x.op.Info().Only {
			break
		}
		if !s.unreliable {
			done++ // the rest of a message whose beginning is missing
			continue
		}
		n = s.rest(s.parts[done:])
		if n == 0 {
			break
		}
		m := s.collect(s.base+int64(done), s.parts[done:done+n])
		m.partial = true
		s.msgs.add(m)
		done += n
	}
	if done > 0 {
		s.parts = append(s.parts[:0], s.parts[done:]...)
		s.base += int64(done)
	}
}

// rest returns how many packets the next piece has of a message whose beginning is missing: its Middles, or its Last; 0 if more of them may come.
func (s *stream) rest(parts []part) int {
	n := 0
	for n < len(parts) && parts[n].seen && parts[n].op.Info().Middle {
		n++
	}
	switch {
	case n == 0 && parts[0].seen && parts[0].op.Info().Last:
		return 1
	case n == len(parts):
		return 0
	}
	return n
}

// giveUp makes messages of what comes before packets that are missing, which nobody retransmits.
func (s *stream) giveUp() {
	last := -1
	for i := range s.parts {
		if s.parts[i].seen {
			continue
		}
		if len(s.givenUp) >= mostMissing {
			clear(s.givenUp)
		}
		if s.givenUp == nil {
			s.givenUp = map[int64]bool{}
		}
		s.givenUp[s.base+int64(i)] = true
		last = i
	}
	if last >= 0 {
		s.settle(last + 1)
		s.fold()
	}
}

// comesLate adds a packet that was given up, where that is a whole message: the network let others overtake it.
func (s *stream) comesLate(ord int64, p *packet.Packet, at where) {
	delete(s.givenUp, ord)
	if in := p.Info(); !in.Only {
		return
	}
	h := headOf(p)
	s.msgs.add(s.collect(ord, []part{{op: p.Opcode, seen: true, length: uint32(p.PayloadLen), crc: sum(p.Payload), cut: p.PayloadLen != len(p.Payload), at: at, head: &h}}))
}

// whole returns how many packets the first message of the parts has, or 0 if it is not whole.
func (s *stream) whole(parts []part) int {
	if !parts[0].seen {
		return 0
	}
	in := parts[0].op.Info()
	switch {
	case parts[0].op.Fn() == packet.ReadRequest:
		n := wqe.Packets(parts[0].head0().dma, s.pmtu)
		if parts[0].head == nil || n > len(parts) {
			return 0
		}
		return n
	case in.Only || !in.First:
		if in.Only {
			return 1
		}
		return 0
	}
	for i := 1; i < len(parts) && parts[i].seen; i++ {
		switch k := parts[i].op.Info(); {
		case k.Last:
			return i + 1
		case !k.Middle:
			return 0
		}
	}
	return 0
}

func (x *part) head0() head {
	if x.head == nil {
		return head{}
	}
	return *x.head
}

// collect makes a message of its packets.
func (s *stream) collect(first int64, parts []part) *message {
	m := &message{first: first, packets: len(parts), op: parts[0].op, begin: parts[0].at, end: parts[0].at, head: parts[0].head0()}
	if m.op.Fn() == packet.ReadRequest {
		m.length, m.mixed, m.other = m.dma, parts[0].mixed, parts[0].other
	} else {
		run := joined{}
		for i := range parts {
			x := &parts[i]
			run.add(x.crc, x.length, x.follows)
			m.length += x.length
			m.cut, m.mixed = m.cut || x.cut, m.mixed || x.mixed
			if x.at.pos > m.end.pos {
				m.end = x.at
			}
			if h := x.head; h != nil && i > 0 {
				m.imm, m.inv, m.hasImm, m.inval, m.se = h.imm, h.inv, h.hasImm, h.inval, m.se || h.se
			}
			if x.at.pos < m.begin.pos {
				m.begin.frame, m.begin.time, m.begin.pos, m.begin.tap = x.at.frame, x.at.time, x.at.pos, x.at.tap
			}
		}
		m.crc = run.sum()
	}
	for i := range parts {
		if h := parts[i].head; h != nil {
			s.heads, parts[i].head = append(s.heads, h), nil
		}
	}
	if answered(m.op) {
		m.read = &answer{pieces: make([]piece, m.packets)}
	}
	return m
}

// answered reports whether a request has a response of its own.
func answered(o packet.Opcode) bool { return wqe.OpOf(o.Fn()).Responded() }

// finish makes messages of what did not come whole.
func (s *stream) finish() {
	s.fold()
	s.settle(len(s.parts))
}

// settle makes messages of the first n packets, whole or not.
func (s *stream) settle(n int) {
	i := 0
	for i < n {
		if k := s.whole(s.parts[i:]); k > 0 {
			s.msgs.add(s.collect(s.base+int64(i), s.parts[i:i+k]))
			i += k
			continue
		}
		if !s.parts[i].seen || s.parts[i].at.frame == 0 {
			i++
			continue
		}
		k := 1
		for i+k < len(s.parts) && s.parts[i+k].seen && s.parts[i+k].op.Info().Middle {
			k++
		}
		m := s.collect(s.base+int64(i), s.parts[i:i+k])
		m.partial = true
		s.msgs.add(m)
		i += k
	}
	i = min(i, len(s.parts))
	s.parts = append(s.parts[:0], s.parts[i:]...)
	s.base += int64(i)
}

// open returns what is known of the message that an ordinal belongs to and that has not come whole, or nil.
func (s *stream) open(ord int64) *message {
	for i := int(ord - s.base); i >= 0 && i < len(s.parts) && s.parts[i].seen; i-- {
		if x := &s.parts[i]; x.op.Info().First {
			return &message{first: s.base + int64(i), packets: int(ord-s.base) - i + 1, op: x.op, begin: x.at, partial: true, head: x.head0()}
		}
	}
	return nil
}

// find returns the message that an ordinal belongs to, or nil: there is none, or it is forgotten.
func (s *stream) find(ord int64) *message {
	for n := max(s.found-1, s.msgs.first()); n < s.msgs.end() && n <= s.found+1; n++ { // nearly always
		if m := s.msgs.at(n); m.first <= ord && ord <= m.last() {
			s.found = n
			return m
		}
	}
	list := s.msgs.all()
	i := sort.Search(len(list), func(i int) bool { return list[i].first > ord }) - 1
	if i < 0 || ord > list[i].last() {
		return nil
	}
	s.found = s.msgs.first() + i
	return list[i]
}
