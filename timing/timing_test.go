package timing

import (
	"testing"
	"time"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// script is packets of one connection, with what the verifier makes of them.
type script struct {
	t    *testing.T
	pair qp.Pair
	c    *Connection
	n    uint64
	dma  uint32 // of the RETH
}

func begin(t *testing.T, room *Room) *script {
	s := &script{t: t, c: New(room), pair: qp.Pair{Service: packet.RC, Paired: true}}
	for i := range s.pair.Ends {
		s.pair.Ends[i].Direction = qp.NewDirection()
	}
	return s
}

// at is a time so many microseconds after the first whole second.
func at(us int) int64 { return int64(time.Second) + int64(us)*int64(time.Microsecond) }

// request is a packet of end 0.
func (s *script) request(us int, fn packet.Fn, psn packet.PSN, length int) {
	s.n++
	s.c.Packet(&s.pair, 0, &packet.Packet{Opcode: packet.Op(packet.RC, fn), PSN: psn, PayloadLen: length, DMALen: s.dma, Time: at(us), Frame: s.n})
}

// other is a message of one packet of end 1.
func (s *script) other(us int, psn packet.PSN) {
	s.n++
	s.c.Packet(&s.pair, 1, &packet.Packet{Opcode: packet.Op(packet.RC, packet.SendOnly), PSN: psn, Time: at(us), Frame: s.n})
}

// TestTurns: a turn is from the newest message of the peer to the next of an end, and no READ and no second message in a row begins one.
func TestTurns(t *testing.T) {
	s := begin(t, nil)
	s.request(0, packet.SendOnly, 1, 64)
	s.other(10, 501)
	s.request(20, packet.SendOnly, 2, 64)
	s.request(21, packet.SendOnly, 3, 64)
	s.other(50_031, 502)
	s.dma = 4096
	s.request(50_040, packet.ReadRequest, 4, 0)
	s.request(50_051, packet.SendOnly, 5, 64)
	s.other(50_055, 503)
	if got, want := s.c.Ends[0].Turns, (Turns{Count: 2, Usual: 30 * time.Microsecond, Most: 20 * time.Microsecond, Frame: 7, At: at(50_051), Longest: Longest{{20 * time.Microsecond, 7, at(50_051)}, {10 * time.Microsecond, 3, at(20)}}}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	s.answer(50_060, packet.Acknowledge, 6)
	if first, second := s.c.Ends[0].LastRequest(), s.c.Ends[1].LastRequest(); first != at(50_051) || second != at(50_055) {
		t.Errorf("the last requests ended at %d and %d", first, second)
	}
	got, want := s.c.Ends[1].Turns, Turns{Count: 2, Long: 1, Usual: 4 * time.Microsecond, Slow: 50_010 * time.Microsecond, Most: 50_010 * time.Microsecond, Frame: 5, At: at(50_031), Longest: Longest{{50_010 * time.Microsecond, 5, at(50_031)}, {4 * time.Microsecond, 8, at(50_055)}}, From: at(21), To: at(50_031)}
	if got != want || got.Mean() != 4*time.Microsecond {
		t.Errorf("%+v, want %+v", got, want)
	}
	if from, when, frame := s.c.Newest(); from != 1 || when != at(50_055) || frame != 8 || got.MeanOfAll() != 25_007*time.Microsecond {
		t.Error(from, when, frame, got.MeanOfAll())
	}
	got.merge(&s.c.Ends[0].Turns)
	if got.Count != 4 || got.Long != 1 || got.Frame != 5 || got.Longest[1].Frame != 7 {
		t.Errorf("%+v", got)
	}
}

// answer is a response of end 1, which acknowledges what is before una.
func (s *script) answer(us int, fn packet.Fn, una packet.PSN) {
	s.n++
	s.pair.Ends[0].SQ.Una = una
	s.c.Packet(&s.pair, 1, &packet.Packet{Opcode: packet.Op(packet.RC, fn), PSN: una.Add(-1), Time: at(us), Frame: s.n})
}

// took checks how long the messages that are kept took, in microseconds; negative: that is not known.
func (s *script) took(want ...int) {
	s.t.Helper()
	if len(want) != len(s.c.Messages) {
		s.t.Fatalf("%d messages, not %d: %+v", len(s.c.Messages), len(want), s.c.Messages)
	}
	for i := range want {
		d, ok := s.c.Messages[i].Took()
		if got := int(d / time.Microsecond); !ok && want[i] >= 0 || ok && got != want[i] {
			s.t.Errorf("message %d took %d µs (%v), not %d", i, got, ok, want[i])
		}
	}
}

// sum is all that an end has in its series.
func (s *script) sum(end int) (sum Slot) {
	for _, k := range s.c.Ends[end].Series.Slots {
		sum.add(k)
	}
	return sum
}

func (s *script) op(o wqe.Op) *Operation { return s.c.Ends[0].Ops[o] }

// TestCoalesced: an ACK completes all messages before it, each after its own time.
func TestCoalesced(t *testing.T) {
	s := begin(t, NewRoom(10))
	s.request(0, packet.SendOnly, 10, 100)
	s.dma = 1500
	s.request(5, packet.WriteFirst, 11, 1024)
	s.request(6, packet.WriteLast, 12, 476)
	s.request(9, packet.SendOnly, 13, 100)
	s.answer(20, packet.Acknowledge, 13)
	s.took(20, 15)
	s.answer(30, packet.Acknowledge, 14)
	s.took(20, 15, 21)
	w := s.op(wqe.Write)
	if w.Count != 1 || w.Bytes != 1500 || w.Sizes.Least != 1500 || w.Sizes.Most != 1500 || w.Sizes.Counts[12] != 1 || UpTo(12) != 2048 {
		t.Errorf("%+v", w)
	}
	if o := s.op(wqe.Send); o.Most != 21*time.Microsecond || o.Quantile(1) != o.Most || o.Quantile(0.99) > o.Most {
		t.Errorf("%v at most, %v and %v by the histogram", o.Most, o.Quantile(1), o.Quantile(0.99))
	}
	if sum := s.sum(0); sum.Took != 56*time.Microsecond || sum.Length != 1700 || sum.Messages != 3 || sum.Gap != 5*time.Microsecond {
		t.Errorf("%+v", sum)
	}
	if g := s.c.Ends[0].Gaps; g.Count() != 2 || g.Quantile(1) > 6*time.Microsecond || g.Quantile(1) < 5*time.Microsecond {
		t.Errorf("%d gaps, at most %v", g.Count(), g.Quantile(1))
	}
}

// TestNumbers: marks are counted, and the most READs and atomics that wait at a time.
func TestNumbers(t *testing.T) {
	s := begin(t, nil)
	s.pair.Encap = packet.RoCEv2IPv4
	s.dma = 8
	for i := range packet.PSN(4) {
		s.request(int(i), packet.ReadRequest, 10+i, 0)
		if i == 2 {
			s.answer(3, packet.ReadRespOnly, 12)
		}
	}
	s.c.Packet(&s.pair, 1, &packet.Packet{Opcode: packet.Op(packet.RC, packet.Acknowledge), TClass: 3, PSN: 12, Time: at(9)})
	for _, y := range []packet.Syndrome{0x20, 0x60, 0x60} { // an RNR NAK, two PSN sequence NAKs
		s.c.Packet(&s.pair, 1, &packet.Packet{Opcode: packet.Op(packet.RC, packet.Acknowledge), Syndrome: y, PSN: 13, Time: at(10)})
	}
	if a, b := &s.c.Ends[0], &s.c.Ends[1]; a.Reads != 3 || a.Packets != 4 || a.Marked != 0 || b.Marked != 1 || b.Packets != 5 || b.Reads != 0 {
		t.Errorf("%+v, %+v", a, b)
	}
	if sum := s.sum(0); sum.Reads != 3 || sum.Messages != 2 || sum.Marked+sum.NAKs+sum.RNRNAKs != 0 {
		t.Errorf("%+v", sum)
	}
	if sum := s.sum(1); sum != (Slot{Marked: 1, NAKs: 2, RNRNAKs: 1}) {
		t.Errorf("%+v", sum)
	}
}

// TestPart: of a packet that was read in part the fields that were not are those of another, and do not count.
func TestPart(t *testing.T) {
	s := begin(t, nil)
	s.pair.Encap = packet.RoCEv2IPv4
	s.c.Packet(&s.pair, 0, &packet.Packet{Opcode: packet.Op(packet.RC, packet.Acknowledge), Part: true, TClass: 3, FECN: true, VL: 7})
	if e := &s.c.Ends[0]; e.Packets != 1 || e.Marked != 0 || e.VL != 0 {
		t.Errorf("%d packets, %d marked, VL %d", e.Packets, e.Marked, e.VL)
	}
}

// TestRetransmitted: a message that is retransmitted took from its first copy to its answer; what comes after its answer is a duplicate of nothing that waits.
func TestRetransmitted(t *testing.T) {
	s := begin(t, NewRoom(10))
	s.dma = 2048
	s.request(0, packet.WriteFirst, 10, 1024)
	s.request(1, packet.WriteLast, 11, 1024)
	s.request(100, packet.WriteFirst, 10, 1024)
	s.request(101, packet.WriteLast, 11, 1024)
	s.answer(110, packet.Acknowledge, 12)
	s.request(111, packet.WriteLast, 11, 1024)
	s.answer(112, packet.Acknowledge, 12)
	s.took(110)
	if w := s.op(wqe.Write); w.Count != 1 || w.Bytes != 2048 || w.Retransmitted != 1 || s.c.Messages[0].Retransmitted != 2 {
		t.Errorf("%+v, %+v", w, s.c.Messages[0])
	}
	if sum := s.sum(0); sum != (Slot{Bytes: 2048, Retransmitted: 3072, Slowest: 110 * time.Microsecond, Took: 110 * time.Microsecond, Length: 2048, Messages: 1}) {
		t.Errorf("%+v", sum)
	}
}

// TestHole: a message that the tap sees first when it is retransmitted counts in its place, and how long it took is not known.
func TestHole(t *testing.T) {
	s := begin(t, NewRoom(10))
	s.request(0, packet.SendOnly, 10, 10)
	s.request(2, packet.SendOnly, 13, 40)
	s.request(50, packet.SendFirst, 11, 1024)
	s.request(51, packet.SendLast, 12, 6)
	s.request(52, packet.SendOnly, 13, 40)
	s.answer(60, packet.Acknowledge, 14)
	s.took(60, -1, 58)
	if o := s.op(wqe.Send); o.Count != 3 || o.Bytes != 1080 || o.Untimed != 1 || o.Incomplete != 0 || o.Retransmitted != 1 {
		t.Errorf("%+v", o)
	}
}

// TestMissing: a message whose middle the tap has not seen is complete when it is acknowledged, and what it took is not known.
func TestMissing(t *testing.T) {
	s := begin(t, NewRoom(10))
	s.request(0, packet.SendFirst, 10, 1024)
	s.request(1, packet.SendMiddle, 12, 1024)
	s.request(2, packet.SendLast, 13, 1024)
	s.request(3, packet.SendOnly, 14, 1)
	s.answer(9, packet.Acknowledge, 15)
	s.took(-1, 6)
	if o := s.op(wqe.Send); o.Untimed != 1 || o.Incomplete != 0 {
		t.Errorf("%+v", o)
	}
}

// TestIncomplete: what nothing has answered when the capture ends is incomplete.
func TestIncomplete(t *testing.T) {
	s := begin(t, NewRoom(10))
	s.request(0, packet.SendOnly, 10, 10)
	s.request(1, packet.SendOnly, 11, 10)
	s.answer(5, packet.Acknowledge, 11)
	s.c.Finish()
	s.took(5, -1)
	if o := s.op(wqe.Send); o.Incomplete != 1 || o.Count != 2 {
		t.Errorf("%+v", o)
	}
}

// TestMerge: what two halves of a connection have measured is what one has; which answer is that of a message that waits is not known then.
func TestMerge(t *testing.T) {
	a, b := begin(t, NewRoom(10)), begin(t, NewRoom(10))
	a.request(0, packet.SendOnly, 10, 10)
	a.answer(4, packet.Acknowledge, 11)
	b.request(10, packet.SendOnly, 11, 10)
	b.request(11, packet.SendOnly, 12, 10)
	b.c.Ends[0], b.c.Ends[1] = b.c.Ends[1], b.c.Ends[0]
	a.c.Merge(b.c, true)
	a.answer(20, packet.Acknowledge, 13)
	a.request(30, packet.SendOnly, 13, 10)
	a.answer(35, packet.Acknowledge, 14)
	a.took(4, -1, -1, 5)
}

// TestSeries: however far a series reaches, it keeps what was added, and merging two is adding to one.
func TestSeries(t *testing.T) {
	var one Series
	var parts [2]Series
	var sum uint64
	for i := range 3000 {
		when := at(i*i%700_000 + (i%2)*1_500_000)
		one.add(when, Slot{Bytes: uint64(i)})
		parts[i%2].add(when, Slot{Bytes: uint64(i)})
		sum += uint64(i)
	}
	first := parts[1]
	first.merge(&parts[0])
	for _, s := range []*Series{&one, &first} {
		var got uint64
		for _, k := range s.Slots {
			got += k.Bytes
		}
		if got != sum || len(s.Slots) > slots || s.Start%s.Width != 0 || s.Start > at(0) || s.End() <= at(1_500_000) {
			t.Errorf("%d bytes of %d, %d slots of %d from %d", got, sum, len(s.Slots), s.Width, s.Start)
		}
	}
}

// TestRoom: those messages are kept that began first, however often it is trimmed and into how many rooms they come.
func TestRoom(t *testing.T) {
	for _, rooms := range []int{1, 3} {
		var all []*Connection
		var kept []*Room
		for range rooms {
			kept = append(kept, NewRoom(100))
		}
		for k := range 6 {
			all = append(all, New(kept[k%rooms]))
		}
		for i := range 1000 {
			k := i % len(all)
			m := Message{Op: wqe.Send, Begin: at(i*7919%1000 + 1)}
			all[k].end(0, &m)
			if r := kept[k%rooms]; r.Full() {
				var of []*Connection
				for n := k % rooms; n < len(all); n += rooms {
					of = append(of, all[n])
				}
				r.Trim(of)
			}
		}
		last := NewRoom(100)
		last.Trim(all)
		n, dropped := 0, last.Dropped
		for _, c := range all {
			n += len(c.Messages)
			for i := range c.Messages {
				if c.Messages[i].Begin > at(100) {
					t.Errorf("%d rooms: one that began at %d is kept", rooms, c.Messages[i].Begin)
				}
			}
		}
		for _, r := range kept {
			dropped += r.Dropped
		}
		if n != 100 || dropped != 900 {
			t.Errorf("%d rooms: %d messages are kept, %d dropped", rooms, n, dropped)
		}
	}
}

// TestMergedMost: the longest of connections that turn out to be one is the longest of either.
func TestMergedMost(t *testing.T) {
	for _, k := range [][2]int{{7, 19}, {19, 7}} {
		s, gone := begin(t, nil), begin(t, nil)
		for i, of := range []*script{s, gone} {
			of.request(0, packet.SendOnly, 10, 100)
			of.answer(k[i], packet.Acknowledge, 11)
		}
		s.c.Merge(gone.c, false)
		if most := s.op(wqe.Send).Most; most != 19*time.Microsecond {
			t.Errorf("%d and %d µs: %v at most", k[0], k[1], most)
		}
	}
}
