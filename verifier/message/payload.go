package message

import (
	"maps"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/wqe"
)

const (
	// mostPayloads is how many packets of messages that are not whole have their payload kept.
	mostPayloads = 4096
	// firstRoom is how much memory a message takes at first, which may claim to be long and have one packet. It doubles as packets come.
	firstRoom = 16 << 10
)

// payloads is what is kept of the payload of WRITEs that are not whole.
type payloads struct {
	pieces  map[int64]*piece // by the ordinal of their first packet
	packets int              // of all pieces
	last    *piece           // the one that the newest packet was added to
	over    int64            // ordinal after the newest packet of a message that is longer than is kept
}

// piece is the payload of packets of a message that follow each other.
type piece struct {
	first, after int64 // ordinals of its first packet, and after its last one
	data         []byte
}

// keepPayload keeps what a packet writes into memory, as far as it was captured.
func (s *assembly) keepPayload(ord int64, p *packet.Packet, payload []byte) {
	if op := wqe.OpOf(p.Opcode.Fn()); op != wqe.Write && op != wqe.AtomicWrite || len(payload) != p.PayloadLen {
		return
	}
	k, in := &s.payloads, p.Info()
	if k.over == ord && !in.First && !in.Only {
		k.over++
		return
	}
	if k.packets >= mostPayloads {
		k.forget(s.base)
		if k.packets >= mostPayloads {
			return
		}
	}
	x := k.last
	if x == nil || x.after != ord || in.First || in.Only {
		n := p.PayloadLen
		if p.Has&packet.HasRETH != 0 {
			n = int(p.DMALen)
		}
		if n > cq.MostData {
			k.last, k.over = nil, ord+1
			return
		}
		x = &piece{first: ord, after: ord, data: s.requests.DataRoom(n, min(n, firstRoom))}
		if k.pieces == nil {
			k.pieces = map[int64]*piece{}
		}
		if old := k.pieces[ord]; old != nil {
			k.take(old)
		}
		k.pieces[ord], k.last = x, x
	}
	if len(x.data)+len(payload) > cq.MostData {
		return
	}
	if n := len(x.data) + len(payload); n > cap(x.data) {
		more := max(n, min(2*cap(x.data), cq.MostData))
		data := append(s.requests.DataRoom(more, more), x.data...)
		s.requests.Outgrown(x.data)
		x.data = data
	}
	x.data = append(x.data, payload...)
	x.after++
	k.packets++
	if in.Last {
		k.last = nil
	}
}

// goesOn is keepPayload for a packet of RC within a message, and reports whether it kept anything: there is room, and the packet before it was kept.
func (k *payloads) goesOn(ord int64, payload []byte) bool {
	x := k.last
	if x == nil || x.after != ord || k.over == ord || k.packets >= mostPayloads || len(x.data)+len(payload) > min(cap(x.data), cq.MostData) {
		return false
	}
	x.data = append(x.data, payload...)
	x.after++
	k.packets++
	return true
}

// forget forgets what begins before an ordinal.
func (k *payloads) forget(before int64) {
	maps.DeleteFunc(k.pieces, func(ord int64, x *piece) bool {
		if ord >= before {
			return false
		}
		k.packets -= int(x.after - x.first)
		return true
	})
}

// payload puts the data of a message together, and forgets its packets; nil: it was not all kept.
func (s *assembly) payload(m *cq.Message) (data []byte) {
	if op := wqe.OpOf(m.Op.Fn()); op != wqe.Write && op != wqe.AtomicWrite {
		return nil
	}
	whole := true
	for ord := m.First; ord <= m.Last(); {
		x := s.payloads.pieces[ord]
		if x == nil {
			whole = false
			ord++
			continue
		}
		if ord == m.First {
			data = x.data
		} else {
			data = append(data, x.data...)
		}
		s.payloads.take(x)
		ord = x.after
	}
	if !whole || len(data) != int(m.Length) {
		return nil
	}
	return data
}

// take takes a piece out.
func (k *payloads) take(x *piece) {
	delete(k.pieces, x.first)
	k.packets -= int(x.after - x.first)
	if k.last == x {
		k.last = nil
	}
}
