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
	posted         cq.Posted // of the newest packet, where that is known
	carried        *carried
	base           int64 // ordinal of parts[0]
	parts          []part
	heads          []*cq.Headers  // not in use
	mixed          bool           // one of parts may be
	givenUp        map[int64]bool // ordinals of packets that were missing, and that may yet come
	retransmission retransmission
	sums           sums
	payloads       payloads
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
func (s *assembly) request(p *packet.Packet, at *cq.PacketRef) {
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
		s.keepPayload(ord, p, p.Payload)
	}
	for k := 1; k < n; k++ {
		s.parts[i+k] = part{op: p.Opcode, seen: true}
	}
	s.tell(ord, n, p, at.Time)
	if s.requests.Unreliable() && len(s.parts) > mostMissing {
		s.GiveUp()
	}
}

// tell tells the requests of a packet that was added and takes n PSNs, and of the messages that it makes whole.
func (s *assembly) tell(ord int64, n int, p *packet.Packet, time int64) {
	in := p.Info()
	if p.Has&packet.HasRETH != 0 && wqe.OpOf(p.Opcode.Fn()) == wqe.Write {
		s.requests.Begin(cq.WriteBegun{Ord: ord, Time: time, VA: p.VA, DMALen: p.DMALen})
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
}

// outside takes a packet of a message that is whole, or that was given up; what is too far ahead is not followed.
func (s *assembly) outside(ord int64, p *packet.Packet, at *cq.PacketRef) {
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
func (s *assembly) fill(i int, x *part, p *packet.Packet, at *cq.PacketRef) {
	in := p.Info()
	x.op, x.seen, x.length, x.at, x.cut = p.Opcode, true, uint32(p.PayloadLen), *at, p.PayloadLen != len(p.Payload)
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
		x.crc = s.carried.sum(before.crc, p, p.Payload)
	default:
		x.crc = s.carried.sum(0, p, p.Payload)
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
func (s *assembly) latePacket(ord int64, p *packet.Packet, at *cq.PacketRef) {
	delete(s.givenUp, ord)
	if in := p.Info(); !in.Only {
		return
	}
	h := headOf(p)
	s.requests.End(s.messageOf(ord, []part{{op: p.Opcode, seen: true, run: 1, heads: 1, bytes: uint32(p.PayloadLen), length: uint32(p.PayloadLen), crc: sum(p.Payload), cut: p.PayloadLen != len(p.Payload), at: *at, head: &h}}))
}

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
