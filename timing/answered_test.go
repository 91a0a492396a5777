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
	if s.c.Finish(); e.Acked != (Answered{2, 64, at(20), at(20)}) || e.Read != (Answered{1, 512, at(40), 0}) {
		t.Errorf("acknowledged %+v, read %+v", e.Acked, e.Read)
	}

	s.c = &copied
	s.dma = 256
	s.request(100, packet.ReadRequest, 6, 0)
	s.answer(110, packet.ReadRespOnly, 7)
	if s.c.Finish(); s.c.Ends[0].Read != (Answered{3, 4096, at(110), at(60)}) {
		t.Errorf("after a later one: %+v", s.c.Ends[0].Read)
	}
	a := Answered{2, 64, 5, 4}
	a.Merge(&Answered{3, 512, 7, 1})
	if a != (Answered{5, 512, 7, 5}) || a.Since(5) != 1 || a.Since(4) != 2 || a.Since(7) != 0 {
		t.Errorf("merged: %+v", a)
	}
}
