package timing

import (
	"testing"

	"ibwitness/packet"
)

// TestAnswered: what was acknowledged counts, and READs that were answered do once their requester went on from them: not those that it retransmitted since, until it took a later one.
func TestAnswered(t *testing.T) {
	s := begin(t, nil)
	s.request(0, packet.SendOnly, 1, 64)
	s.request(10, packet.WriteOnly, 2, 0)
	s.answer(20, packet.Acknowledge, 3)
	s.dma = 512
	s.request(30, packet.ReadRequest, 3, 0)
	s.answer(40, packet.ReadRespOnly, 4)
	s.dma = 4096
	s.request(50, packet.ReadRequest, 4, 0)
	s.answer(60, packet.ReadRespOnly, 5)
	s.request(70, packet.ReadRequest, 4, 0) // again: it has not taken that
	s.answer(80, packet.ReadRespOnly, 5)
	s.request(90, packet.SendOnly, 5, 64) // not answered
	e := &s.c.Ends[0]
	if e.took(0); e.Read != (Answered{}) {
		t.Errorf("before the end: %+v", e.Read)
	}
	copied := *s.c
	copied.Ends[0].read = append([]readAnswer(nil), e.read...)
	if s.c.Finish(); e.Acked != (Answered{2, 64, at(20), at(20), [5]int64{at(20)}}) || e.Read != (Answered{1, 512, at(40), 0, [5]int64{1: at(40)}}) {
		t.Errorf("acknowledged %+v, read %+v", e.Acked, e.Read)
	}

	s.c = &copied
	s.dma = 256
	s.request(100, packet.ReadRequest, 6, 0)
	s.answer(110, packet.ReadRespOnly, 7)
	if s.c.Finish(); s.c.Ends[0].Read != (Answered{3, 4096, at(110), at(60), [5]int64{at(110), at(40), 0, 0, at(60)}}) {
		t.Errorf("after a later one: %+v", s.c.Ends[0].Read)
	}
	a := Answered{2, 64, 5, 4, [5]int64{5}}
	a.Merge(&Answered{3, 512, 7, 1, [5]int64{1, 7}})
	if a != (Answered{5, 512, 7, 5, [5]int64{5, 7}}) || a.Since(5) != 1 || a.Since(4) != 2 || a.Since(7) != 0 {
		t.Errorf("merged: %+v", a)
	}
}

// TestAnsweredSize: of what size the messages were that were answered after a time, and when the newest larger one was.
func TestAnsweredSize(t *testing.T) {
	var a Answered
	for i, n := range []uint32{65536, 2048, 256, 0, 257} {
		a.add(n, int64(i+1))
	}
	for _, tt := range []struct {
		at   int64
		most uint32
		last int64
	}{{5, 0, 5}, {4, 512, 2}, {2, 512, 2}, {1, 2048, 1}, {0, 4096, 0}} {
		if most, last := a.LargeSince(tt.at); most != tt.most || last != tt.last {
			t.Errorf("since %d: %d bytes, larger at %d", tt.at, most, last)
		}
	}
	if a.InPackets(1024); a.BySize != [5]int64{4, 5, 2} {
		t.Errorf("in packets of 1024 bytes: %d", a.BySize)
	}
}
