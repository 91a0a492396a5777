package traffic

import "ibwitness/packet"

// end is one QP of a connection.
type end struct {
	addr packet.Addr
	mac  [6]byte
	qpn  uint32
	port uint16
	ipid uint16 // IPv4 identification of the next packet
}

// message is one message of a burst.
type message struct {
	op      op
	imm     bool
	acked   bool // its Acknowledge is asked for; else a later response acknowledges it
	len     int
	packets int // PSNs that it takes
	first   packet.PSN
	msn     uint32 // of its responses
	va      uint64
	rkey    uint32
}

type op uint8

const (
	send op = iota
	write
	read
	cmpSwap
	fetchAdd
)

// burst is how many messages a requester has outstanding at most.
const burst = 4

// stream is what one end of a connection asks and the other answers: a burst of requests, then the responses to it, and so on.
type stream struct {
	from, to *end
	next     packet.PSN
	count    uint32 // messages begun, modulo 2^24
	messages [burst]message
	n        uint8 // messages in the burst
	at       uint8 // the message of the next packet
	packet   int   // and its place in the message
	answer   bool  // the responses are in flight
}

// step makes the next packet of the stream, but for what Complete computes.
func (s *stream) step(p *packet.Packet, g *Generator) (from, to *end) {
	if s.n == 0 {
		s.begin(g)
	}
	if s.answer {
		s.respond(p, g)
		return s.to, s.from
	}
	s.request(p, g)
	return s.from, s.to
}

// begin draws the next burst.
func (s *stream) begin(g *Generator) {
	r, sh := &g.random, &g.shape
	s.n, s.at, s.packet, s.answer = uint8(1+r.below(burst)), 0, 0, false
	for i := range s.n {
		m := &s.messages[i]
		*m = message{len: 1 + r.below(2*sh.Message), first: s.next, va: r.next() >> 20 << 3, rkey: uint32(r.next()), acked: i == s.n-1 || r.one(2)}
		k := r.below(100)
		switch {
		case k < sh.Mix.Write:
			m.op = write
		case k < sh.Mix.Write+sh.Mix.Read:
			m.op = read
		case k < sh.Mix.Write+sh.Mix.Read+sh.Mix.Atomic:
			m.op, m.len = cmpSwap+op(r.below(2)), 8
		}
		m.imm = m.op <= write && r.one(8)
		m.packets = (m.len + sh.PMTU - 1) / sh.PMTU
		s.next = s.next.Add(m.packets)
		s.count = (s.count + 1) & packet.PSNMask
		m.msn = s.count
	}
}

// request makes the next request packet of the burst.
func (s *stream) request(p *packet.Packet, g *Generator) {
	m := &s.messages[s.at]
	p.PSN = m.first.Add(s.packet)
	last := true
	switch m.op {
	case send, write:
		last = s.packet == m.packets-1
		p.Opcode = packet.Op(packet.RC, s.fn(m))
		p.AckReq = last && m.acked
		p.Payload = g.payload(m.len, s.packet)
		if p.Info().Headers&packet.HasRETH != 0 {
			p.VA, p.RKey, p.DMALen = m.va, m.rkey, uint32(m.len)
		}
		if p.Info().Headers&packet.HasImmDt != 0 {
			p.Imm, p.SE = m.rkey, true
		}
	case read:
		p.Opcode, p.AckReq = packet.Op(packet.RC, packet.ReadRequest), true
		p.VA, p.RKey, p.DMALen = m.va, m.rkey, uint32(m.len)
	case cmpSwap, fetchAdd:
		p.Opcode, p.AckReq = packet.Op(packet.RC, packet.CmpSwap), true
		p.VA, p.RKey, p.SwapAdd = m.va, m.rkey, g.random.next()
		if m.op == fetchAdd {
			p.Opcode = packet.Op(packet.RC, packet.FetchAdd)
		} else {
			p.Compare = g.random.next()
		}
	}
	if s.packet++; !last {
		return
	}
	s.packet = 0
	if s.at++; s.at == s.n {
		s.at, s.answer = 0, true
	}
}

// fn is the operation of the next packet of a SEND or WRITE.
func (s *stream) fn(m *message) packet.Fn {
	first, last := s.packet == 0, s.packet == m.packets-1
	fn := packet.SendMiddle
	switch {
	case first && last:
		fn = packet.SendOnly
	case first:
		fn = packet.SendFirst
	case last:
		fn = packet.SendLast
	}
	if m.imm && last {
		fn++
	}
	if m.op == write {
		fn += packet.WriteFirst
	}
	return fn
}

// respond makes the next response packet to the burst.
func (s *stream) respond(p *packet.Packet, g *Generator) {
	for m := &s.messages[s.at]; m.op <= write && !m.acked; m = &s.messages[s.at] {
		s.at++
	}
	m := &s.messages[s.at]
	p.MSN, p.Syndrome = m.msn, 0x1F
	p.PSN = m.first.Add(s.packet)
	last := true
	switch m.op {
	case send, write:
		p.PSN = m.first.Add(m.packets - 1)
		p.Opcode = packet.Op(packet.RC, packet.Acknowledge)
	case read:
		last = s.packet == m.packets-1
		fn := packet.ReadRespMiddle
		switch {
		case m.packets == 1:
			fn = packet.ReadRespOnly
		case s.packet == 0:
			fn = packet.ReadRespFirst
		case last:
			fn = packet.ReadRespLast
		}
		p.Opcode = packet.Op(packet.RC, fn)
		p.Payload = g.payload(m.len, s.packet)
	default:
		p.Opcode, p.OrigData = packet.Op(packet.RC, packet.AtomicAck), g.random.next()
	}
	if s.packet++; !last {
		return
	}
	s.packet = 0
	if s.at++; s.at == s.n {
		s.n = 0
	}
}
