package message

import (
	"bytes"
	"testing"

	"ibwitness/cq"
	"ibwitness/packet"
)

// TestPayloadLong: a message that claims to be long takes no more memory than its packets have bytes, and one that is longer than is kept takes none.
func TestPayloadLong(t *testing.T) {
	first, middle := packet.Op(packet.RC, packet.WriteFirst), packet.Op(packet.RC, packet.WriteMiddle)
	for length, want := range map[uint32]int{100_000: firstRoom, cq.MostData: firstRoom, cq.MostData + 1: 0} {
		s := &assembly{requests: &cq.Requests{}}
		keep := func(ord int64, p *packet.Packet) { s.keepPayload(ord, p, p.Payload) }
		keep(1, &packet.Packet{Opcode: first, Has: packet.HasRETH, Payload: make([]byte, 1024), PayloadLen: 1024, DMALen: length})
		for i := range 10 {
			keep(int64(2+i), &packet.Packet{Opcode: middle, Payload: make([]byte, 1024), PayloadLen: 1024})
		}
		got := 0
		for _, x := range s.payloads.pieces {
			got += cap(x.data)
		}
		if got != want {
			t.Errorf("a message of %d bytes takes %d, want %d", length, got, want)
		}
		for i := range 60 {
			keep(int64(12+i), &packet.Packet{Opcode: middle, Payload: make([]byte, 1024), PayloadLen: 1024})
		}
		if x := s.payloads.pieces[1]; want > 0 && len(x.data) != 71*1024 {
			t.Errorf("%d bytes are kept", len(x.data))
		}
	}
}

// TestPayload: the data of a WRITE is put together of packets that come in any order, and is no more than what was captured.
func TestPayload(t *testing.T) {
	first, middle, last := packet.Op(packet.RC, packet.WriteFirst), packet.Op(packet.RC, packet.WriteMiddle), packet.Op(packet.RC, packet.WriteLast)
	type sent struct {
		ord int64
		op  packet.Opcode
		b   string
	}
	a, b, c, d := sent{7, first, "aaaa"}, sent{8, middle, "bbbb"}, sent{9, middle, "cccc"}, sent{10, last, "d"}
	for _, x := range []struct {
		name string
		sent []sent
		want string // empty: none is known
	}{
		{"in order", []sent{a, b, c, d}, "aaaabbbbccccd"},
		{"one late", []sent{a, b, d, c}, "aaaabbbbccccd"},
		{"first late", []sent{b, c, d, a}, "aaaabbbbccccd"},
		{"backwards", []sent{d, c, b, a}, "aaaabbbbccccd"},
		{"one lost", []sent{a, b, d}, ""},
		{"first lost", []sent{b, c, d}, ""},
		{"the next one has begun", []sent{a, b, {11, first, "eeee"}, c, d, {12, last, "f"}}, "aaaabbbbccccd"},
		{"the first of the next one is lost", []sent{a, b, d, {11, middle, "ffff"}, c}, "aaaabbbbccccd"},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := &assembly{requests: &cq.Requests{}}
			for _, y := range x.sent {
				p := &packet.Packet{Opcode: y.op, Payload: []byte(y.b), PayloadLen: len(y.b), DMALen: 13}
				if y.op == first {
					p.Has |= packet.HasRETH
				}
				s.keepPayload(y.ord, p, p.Payload)
				copy(p.Payload, "????") // the frame's room is used again
			}
			m := &cq.Message{First: 7, Packets: 4, Op: first, Length: 13}
			if got := s.payload(m); !bytes.Equal(got, []byte(x.want)) {
				t.Errorf("%q, want %q", got, x.want)
			}
			left := 0
			for _, p := range s.payloads.pieces {
				if left += int(p.after - p.first); p.first < 11 {
					t.Errorf("packets %d to %d are kept still", p.first, p.after)
				}
			}
			if s.payloads.packets != left {
				t.Errorf("%d packets are counted, and %d kept", s.payloads.packets, left)
			}
		})
	}
}
