package qp

import (
	"testing"

	"ibwitness/packet"
	"ibwitness/wqe"
)

// TestScattered: where the answer to a READ starts and what of it is missing is kept whatever order its responses come in, and with the READ.
func TestScattered(t *testing.T) {
	s := &NewDirection().SQ
	s.Joined = true
	read := func(first, last packet.PSN) *wqe.SendWQE {
		w := s.Messages.Push(first, new(Pair), new(packet.Packet), new(Accepted))
		w.Op, w.First, w.Last, w.Flags = wqe.Read, first, last, wqe.Ended
		w.AwaitResponse(first)
		return w
	}
	holds := func(what string, w *wqe.SendWQE, first, next, missing packet.PSN, kept int) {
		t.Helper()
		if s.RespFirst(w) != first || w.RespNext() != next || s.Missing(w) != missing {
			t.Errorf("%s: starts at %v, next %v, missing %v; want %v, %v, %v", what, s.RespFirst(w), w.RespNext(), s.Missing(w), first, next, missing)
		}
		if n := len(s.Lost().Issues.Scattered); n != kept {
			t.Errorf("%s: %d are kept apart, want %d", what, n, kept)
		}
	}
	w := read(packet.PSNMask, 4) // of six PSNs, which wrap
	holds("new", w, packet.PSNMask, packet.PSNMask, packet.PSNMask, 0)
	s.AnswerFrom(w, packet.PSNMask, 0, 0)
	holds("answered in order", w, packet.PSNMask, 0, 0, 0)
	s.AnswerFrom(w, packet.PSNMask, 3, 0)
	holds("after a gap", w, packet.PSNMask, 3, 0, 1)
	s.AnswerFrom(w, 1, 2, 2)
	holds("reissued", w, 1, 2, 2, 1)
	s.AnswerFrom(w, packet.PSNMask, 2, 2)
	holds("in order again", w, packet.PSNMask, 2, 2, 0)
	s.AnswerFrom(w, packet.PSNMask, packet.PSNMask, 5)
	holds("taken for answered", w, packet.PSNMask, packet.PSNMask, 5, 0)
	s.EndAt(w, 9)
	holds("and longer than thought", w, packet.PSNMask, packet.PSNMask, 5, 1)
	s.BeginAt(w, 2)
	holds("moved", w, 2, 2, 2, 0)

	s.AnswerFrom(w, 3, 4, 3)
	for psn := packet.PSN(10); psn < 30; psn += 2 { // that one is given up
		w = read(psn, psn+1)
	}
	s.AnswerFrom(w, w.First+1, w.First+1, w.First)
	holds("another one", w, w.First+1, w.First+1, w.First, 1)

	a := s.Messages.Push(0, new(Pair), new(packet.Packet), new(Accepted))
	a.Op, a.First, a.Last = wqe.FetchAdd, 50, 50
	a.Return(7)
	s.AnswerFrom(a, 1, 2, 3)
	if a.Orig() != 7 || a.RespNext() != 50 || a.Flags != 0 {
		t.Errorf("an atomic has become %+v", a)
	}
}
