package message

import (
	"ibwitness/cq"
	"ibwitness/internal/slab"
	"ibwitness/packet"
	"ibwitness/wqe"
)

// assembly makes messages of the packets of some requests. What came whole is reported, the rest is kept as packets.
type assembly struct {
	requests       *cq.Requests
	messages       *slab.Of[cq.Message]
	carried        *carried
	base           int64 // ordinal of parts[0]
	parts          []part
	heads          []*cq.Headers  // not in use
	mixed          bool           // one of parts may be
	givenUp        map[int64]bool // ordinals of packets that were missing, and that may yet come
	retransmission retransmission
	sums           sums
	payloads       map[int64][]byte // of WRITEs that are not whole, by ordinal, where they are kept
}

// part is one packet of a message that is not whole yet.
type part struct {
	op     packet.Opcode
	seen   bool
	cut    bool // not all of the payload was captured
	length uint32
	crc    uint32 // of the payload; where it follows, of that of the packets before it as well
	at     cq.PacketRef
	head   *cq.Headers

	follows bool   // the packet before it came before it, and is of the same message
	run     uint32 // packets from that which begins the message up to this one, where they follow each other; else 0
	heads   uint8  // of those that have one
	bytes   uint32 // of their payload
	mixed   bool   // its PSN was retransmitted with another packet
	other   bool   // so did that of a READ, as one for other memory
}

// window is how many packets beyond those that came whole are followed.
const window = 1 << 17

// mostMissing is how many packets of UC come before what is missing is given up.
const mostMissing = 4096

// headStart is how many packets at the beginning may come later than the first that was seen: lost, and retransmitted.
const headStart = 4096

// request adds a packet.
func (s *assembly) request(p *packet.Packet, at cq.PacketRef) {
	in := p.Info()
	ord := s.requests.Packet(at)
	if s.requests.High() == 0 && ord > headStart {
		s.base = ord
	}
	if ord < s.base || ord-s.base > window {
		s.outside(ord, p, at)
		return
	}
	n, ok := s.psns(p)
	if !ok {
		return
	}
	i := int(ord - s.base)
	for len(s.parts) < i+n {
		s.parts = append(s.parts, part{})
	}
	x := &s.parts[i]
	if x.seen {
		s.requests.Retransmitted(ord)
		s.retransmittedPacket(i, p)
		return
	}
	s.fill(i, x, p, at)
	s.keepSum(ord, x)
	if s.requests.KeepsData() {
		s.keepPayload(ord, p)
	}
	for k := 1; k < n; k++ {
		s.parts[i+k] = part{op: p.Opcode, seen: true}
	}
	if p.Has&packet.HasRETH != 0 && wqe.OpOf(p.Opcode.Fn()) == wqe.Write {
		s.requests.Begin(cq.WriteBegun{Ord: ord, Time: at.Time, VA: p.VA, DMALen: p.DMALen})
	}
	filled := s.requests.Extend(ord, int64(n))
	if in.First {
		s.requests.Opens(ord)
	}
	if p.SE {
		s.requests.News()
	}
	if in.Last || in.Only || filled {
		s.tellWhole()
	}
	if s.requests.Unreliable() && len(s.parts) > mostMissing {
		s.GiveUp()
	}
}

// outside takes a packet of a message that is whole, or that was given up; what is too far ahead is not followed.
func (s *assembly) outside(ord int64, p *packet.Packet, at cq.PacketRef) {
	switch {
	case ord >= s.base:
	case s.givenUp[ord]:
		s.requests.News()
		s.latePacket(ord, p, at)
	default:
		s.requests.Retransmitted(ord)
		s.retransmittedMessage(ord, p)
	}
}

// psns is how many PSNs a packet takes: a READ request as many as its response has packets. ok is false where that is not known, or more than is followed.
func (s *assembly) psns(p *packet.Packet) (n int, ok bool) {
	if p.Opcode.Fn() != packet.ReadRequest {
		return 1, true
	}
	if s.requests.PMTU() == 0 {
		s.requests.Stop("the path MTU is not known")
		return 0, false
	}
	if n = wqe.Packets(p.DMALen, s.requests.PMTU()); n > window {
		s.requests.Stop("a READ is longer than is followed")
		return 0, false
	}
	return n, true
}

// fill sets the i-th part, which is x, to packet p.
func (s *assembly) fill(i int, x *part, p *packet.Packet, at cq.PacketRef) {
	in := p.Info()
	x.op, x.seen, x.length, x.at, x.cut = p.Opcode, true, uint32(p.PayloadLen), at, p.PayloadLen != len(p.Payload)
	if !in.Middle || p.SE {
		x.head, x.heads = s.headOf(p), 1
	}
	if in.First || in.Only {
		x.run, x.bytes = 1, x.length
	}
	switch before := s.before(i); {
	case x.cut:
	case before != nil && (in.Middle || in.Last) && before.seen && !before.cut:
		x.follows = true
		if before.run > 0 && !before.op.Info().Last {
			x.run, x.bytes, x.heads = before.run+1, before.bytes+x.length, min(before.heads+x.heads, manyHeads)
		}
		x.crc = s.carried.sum(before.crc, p)
	default:
		x.crc = s.carried.sum(0, p)
	}
}

// manyHeads is how many heads are counted.
const manyHeads = 3

// before is the packet before one, nil for the first.
func (s *assembly) before(i int) *part {
	if i == 0 {
		return nil
	}
	return &s.parts[i-1]
}

// headOf is headOf in room that the assembly has.
func (s *assembly) headOf(p *packet.Packet) *cq.Headers {
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

// tellWhole makes messages of the packets that came whole.
func (s *assembly) tellWhole() {
	done := 0
	for done < len(s.parts) {
		n := s.whole(s.parts[done:])
		if n > 0 {
			s.requests.End(s.messageOf(s.base+int64(done), s.parts[done:done+n]))
			done += n
			continue
		}
		if x := &s.parts[done]; !x.seen || x.op.Info().First || x.op.Info().Only {
			break
		}
		if !s.requests.Unreliable() {
			done++ // the rest of a message whose beginning is missing
			continue
		}
		n = s.rest(s.parts[done:])
		if n == 0 {
			break
		}
		m := s.messageOf(s.base+int64(done), s.parts[done:done+n])
		m.Partial = true
		s.requests.End(m)
		done += n
	}
	if done > 0 {
		s.parts = append(s.parts[:0], s.parts[done:]...)
		s.base += int64(done)
		s.mixed = s.mixed && len(s.parts) > 0
	}
}

// rest returns how many packets the next piece has of a message whose beginning is missing: its Middles, or its Last; 0 if more of them may come.
func (s *assembly) rest(parts []part) int {
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

// GiveUp makes messages of what comes before packets that are missing, which nobody retransmits.
func (s *assembly) GiveUp() {
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
		s.tellWhole()
	}
}

// latePacket adds a packet that was given up, where that is a whole message: the network let others overtake it.
func (s *assembly) latePacket(ord int64, p *packet.Packet, at cq.PacketRef) {
	delete(s.givenUp, ord)
	if in := p.Info(); !in.Only {
		return
	}
	h := headOf(p)
	s.requests.End(s.messageOf(ord, []part{{op: p.Opcode, seen: true, run: 1, heads: 1, bytes: uint32(p.PayloadLen), length: uint32(p.PayloadLen), crc: sum(p.Payload), cut: p.PayloadLen != len(p.Payload), at: at, head: &h}}))
}

// whole returns how many packets the first message of the parts has, or 0 if it is not whole.
func (s *assembly) whole(parts []part) int {
	if !parts[0].seen {
		return 0
	}
	in := parts[0].op.Info()
	switch {
	case parts[0].op.Fn() == packet.ReadRequest:
		if parts[0].head == nil {
			return 0
		}
		if n := wqe.Packets(parts[0].head.DMALen, s.requests.PMTU()); n <= len(parts) {
			return n
		}
		return 0
	case in.Only || !in.First:
		if in.Only {
			return 1
		}
		return 0
	}
	if n := len(parts); inOrder(parts) && parts[n-1].op.Info().Last {
		return n // nearly always
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

// inOrder reports whether packets are a message from its beginning on, and came in their order.
func inOrder(parts []part) bool { return int(parts[len(parts)-1].run) == len(parts) }

func (x *part) head0() cq.Headers {
	if x.head == nil {
		return cq.Headers{}
	}
	return *x.head
}

// messageOf makes a message of its packets.
func (s *assembly) messageOf(first int64, parts []part) *cq.Message {
	m, last := s.messages.New(), &parts[len(parts)-1]
	m.First, m.Packets, m.Op, m.Begin, m.End = first, len(parts), parts[0].op, parts[0].at, parts[0].at
	if h := parts[0].head; h != nil {
		m.Headers = *h
	}
	switch {
	case m.Op.Fn() == packet.ReadRequest:
		m.Length, m.Mixed, m.Other = m.DMALen, parts[0].mixed, parts[0].other
	case inOrder(parts) && !s.mixed && last.heads < manyHeads && (last.heads == 1 || last.head != nil): // nearly always
		if m.Length, m.CRC, m.Cut, m.End = last.bytes, last.crc, last.cut, last.at; last.head != nil && len(parts) > 1 {
			extra(m, last.head)
		}
		s.spare(last)
		parts = parts[:1] // no other has headers
	default:
		run := joined{}
		for i := range parts {
			x := &parts[i]
			run.add(x.crc, x.length, x.follows)
			m.Length += x.length
			m.Cut, m.Mixed = m.Cut || x.cut, m.Mixed || x.mixed
			if x.at.Pos > m.End.Pos {
				m.End = x.at
			}
			if h := x.head; h != nil && i > 0 {
				extra(m, h)
			}
			if x.at.Pos < m.Begin.Pos {
				m.Begin.Frame, m.Begin.Time, m.Begin.Pos, m.Begin.Tap = x.at.Frame, x.at.Time, x.at.Pos, x.at.Tap
			}
		}
		m.CRC = run.sum()
	}
	if len(s.payloads) > 0 {
		m.Data = s.payload(m)
	}
	for i := range parts {
		s.spare(&parts[i])
	}
	if answered(m.Op) {
		m.Response = &cq.Response{Packets: make([]cq.ResponsePacket, m.Packets)}
	}
	return m
}

// extra adds what the headers of a later packet say.
func extra(m *cq.Message, h *cq.Headers) {
	m.Imm, m.InvRKey, m.HasImm, m.HasInv, m.SE = h.Imm, h.InvRKey, h.HasImm, h.HasInv, m.SE || h.SE
}

// spare takes the room of the headers of a packet back.
func (s *assembly) spare(x *part) {
	if x.head != nil {
		s.heads, x.head = append(s.heads, x.head), nil
	}
}

// answered reports whether a request has a response of its own.
func answered(o packet.Opcode) bool { return wqe.OpOf(o.Fn()).Responded() }

// Finish makes messages of what did not come whole.
func (s *assembly) Finish() {
	s.tellWhole()
	s.settle(len(s.parts))
}

// settle makes messages of the first n packets, whole or not.
func (s *assembly) settle(n int) {
	i := 0
	for i < n {
		if k := s.whole(s.parts[i:]); k > 0 {
			s.requests.End(s.messageOf(s.base+int64(i), s.parts[i:i+k]))
			i += k
			continue
		}
		if !s.parts[i].seen || s.parts[i].at.Frame == 0 {
			i++
			continue
		}
		k := 1
		for i+k < len(s.parts) && s.parts[i+k].seen && s.parts[i+k].op.Info().Middle {
			k++
		}
		m := s.messageOf(s.base+int64(i), s.parts[i:i+k])
		m.Partial = true
		s.requests.End(m)
		i += k
	}
	i = min(i, len(s.parts))
	s.parts = append(s.parts[:0], s.parts[i:]...)
	s.base += int64(i)
}

// Open returns what is known of the message that an ordinal belongs to and that has not come whole, or nil.
func (s *assembly) Open(ord int64) *cq.Message {
	for i := int(ord - s.base); i >= 0 && i < len(s.parts) && s.parts[i].seen; i-- {
		if x := &s.parts[i]; x.op.Info().First {
			return &cq.Message{First: s.base + int64(i), Packets: int(ord-s.base) - i + 1, Op: x.op, Begin: x.at, Partial: true, Headers: x.head0()}
		}
	}
	return nil
}

// OpenBefore counts the messages that have begun up to a packet and have not come whole.
func (s *assembly) OpenBefore(pos int) (n int) {
	for i := range s.parts {
		if x := &s.parts[i]; x.seen && x.at.Pos <= pos && (x.op.Info().First || x.op.Info().Only) {
			n++
		}
	}
	return n
}

// ReportedTo is the ordinal up to which messages have been reported.
func (s *assembly) ReportedTo() int64 { return s.base }
