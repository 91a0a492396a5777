package message

import (
	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/wqe"
)

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
		x := &s.parts[done]
		if !x.seen || x.op.Info().Only || x.op.Info().First && !s.requests.Unreliable() {
			break
		}
		if !s.requests.Unreliable() {
			done++ // the rest of a message whose beginning is missing
			continue
		}
		if n = s.rest(s.parts[done:]); x.op.Info().First {
			n = s.interrupted(s.parts[done:])
		}
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

// interrupted returns how many packets a message has after whose beginning another begins, with none missing between them; else 0.
func (s *assembly) interrupted(parts []part) int {
	n := 1
	for n < len(parts) && parts[n].seen && parts[n].op.Info().Middle {
		n++
	}
	if n < len(parts) && parts[n].seen && (parts[n].op.Info().First || parts[n].op.Info().Only) {
		return n
	}
	return 0
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
		addUp(m, parts)
	}
	if s.payloads.packets > 0 {
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

// addUp sums up the packets of a message, in whatever order they came.
func addUp(m *cq.Message, parts []part) {
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
