package qp

import (
	"testing"

	"ibwitness/packet"
	"ibwitness/wqe"
)

// TestAhead: an ACK of what the requester has not come to again answers what it sent first; not one of what it has retransmitted, a NAK, one after several rounds or after one that was asked for, or where all was
// retransmitted. Where each copy has an answer too, that is counted once.
func TestAhead(t *testing.T) {
	ack := packet.Packet{Opcode: packet.Op(packet.RC, packet.Acknowledge), PSN: 106, Time: 900}
	for _, k := range []struct {
		name string
		set  func(s *SendQueue, k *Stall, p *packet.Packet)
		want uint32
	}{
		{"ahead", func(*SendQueue, *Stall, *packet.Packet) {}, 1},
		{"of a copy", func(_ *SendQueue, _ *Stall, p *packet.Packet) { p.PSN = 104 }, 0},
		{"a NAK", func(_ *SendQueue, _ *Stall, p *packet.Packet) { p.Syndrome = packet.NAKSequence }, 0},
		{"two rounds", func(_ *SendQueue, k *Stall, _ *packet.Packet) { k.Rounds[TimerExpired] = 2 }, 0},
		{"asked for", func(_ *SendQueue, k *Stall, _ *packet.Packet) { k.Rounds = [NumCauses]uint32{SequenceAsked: 1} }, 0},
		{"a READ", func(_ *SendQueue, k *Stall, _ *packet.Packet) { k.Request.Op = wqe.Read }, 0},
		{"all was retransmitted", func(s *SendQueue, _ *Stall, _ *packet.Packet) { s.SentAgain(110) }, 0},
	} {
		s := &NewDirection().SQ
		s.First, s.Una, s.Next, s.High = 100, 100, 110, 110
		t1 := s.trouble()
		t1.Now = Stall{Request: StalledRequest{PSN: 100, First: 100, Op: wqe.Write}, Since: 100, Begun: 800, Last: 800, Packets: 5, High: 110, Rounds: [NumCauses]uint32{TimerExpired: 1}}
		s.SentAgain(105)
		p := ack
		k.set(s, &t1.Now, &p)
		s.Una = p.PSN.Add(1)
		s.Progress(&p, 1024)
		if got := t1.Late.Ahead; got != k.want || t1.Sum.Count != 1 {
			t.Errorf("%s: %d of %d stalls", k.name, got, t1.Sum.Count)
		}
		for range 5 {
			s.AnsweredAgain(104)
		}
		if k.name == "ahead" && (t1.Late.Ahead != 0 || t1.Late.Rounds != 1) || s.AnswersLate() != (t1.Late.Ahead+t1.Late.Rounds > 0) {
			t.Errorf("%s, and each copy was answered: %+v", k.name, t1.Late)
		}
	}
}
