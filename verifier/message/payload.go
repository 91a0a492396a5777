package message

import (
	"bytes"
	"maps"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/wqe"
)

const (
	// mostKept is the longest message whose payload is kept, in bytes.
	mostKept = 1 << 20
	// mostPayloads is how many packets of messages that are not whole have theirs kept.
	mostPayloads = 4096
)

// keepPayload keeps what a packet writes into memory.
func (s *assembly) keepPayload(ord int64, p *packet.Packet) {
	if op := wqe.OpOf(p.Opcode.Fn()); op != wqe.Write && op != wqe.AtomicWrite || len(p.Payload) != p.PayloadLen {
		return
	}
	if s.payloads == nil {
		s.payloads = map[int64][]byte{}
	}
	if len(s.payloads) >= mostPayloads {
		maps.DeleteFunc(s.payloads, func(ord int64, _ []byte) bool { return ord < s.base })
	}
	if len(s.payloads) < mostPayloads {
		s.payloads[ord] = bytes.Clone(p.Payload)
	}
}

// payload puts the data of a message together, and forgets its packets; nil: it was not all kept.
func (s *assembly) payload(m *cq.Message) []byte {
	if op := wqe.OpOf(m.Op.Fn()); op != wqe.Write && op != wqe.AtomicWrite {
		return nil
	}
	n, whole := 0, true
	for ord := m.First; ord <= m.Last(); ord++ {
		b, ok := s.payloads[ord]
		whole = whole && ok
		n += len(b)
	}
	data := s.payloads[m.First]
	if whole = whole && n == int(m.Length) && n <= mostKept; whole && m.Packets > 1 {
		data = make([]byte, 0, n)
		for ord := m.First; ord <= m.Last(); ord++ {
			data = append(data, s.payloads[ord]...)
		}
	}
	for ord := m.First; ord <= m.Last(); ord++ {
		delete(s.payloads, ord)
	}
	if !whole {
		return nil
	}
	return data
}
