package qp

import (
	"slices"

	"ibwitness/packet"
	"ibwitness/wqe"
)

// Scattered is what is kept of a READ whose responses do not follow one another from its first PSN on: some were missing, or it was reissued.
type Scattered struct {
	READ      packet.PSN // its PSN
	RespFirst packet.PSN // PSN at which the issue that is being answered starts
	Missing   packet.PSN // PSN of the first response that was not seen
}

// RespFirst returns the PSN at which the issue of a READ that is being answered starts.
func (s *SendQueue) RespFirst(w *wqe.SendWQE) packet.PSN {
	if x := s.scattered(w); x != nil {
		return x.RespFirst
	}
	return w.First
}

// Missing returns the PSN of the first response to a READ that was not seen.
func (s *SendQueue) Missing(w *wqe.SendWQE) packet.PSN {
	switch x := s.scattered(w); {
	case x != nil:
		return x.Missing
	case w.Has(wqe.Taken):
		return w.Last.Add(1)
	}
	return w.RespNext()
}

func (s *SendQueue) scattered(w *wqe.SendWQE) *Scattered {
	if !w.Has(wqe.Scattered) || s.Recovery == nil {
		return nil
	}
	l := s.Recovery.Issues.Scattered
	if i := slices.IndexFunc(l, func(x Scattered) bool { return x.READ == w.First }); i >= 0 {
		return &l[i]
	}
	return nil
}

// AnswerFrom notes that the issue of READ w that is being answered starts at first, that the next response is at next, and that the first one not seen is at missing.
func (s *SendQueue) AnswerFrom(w *wqe.SendWQE, first, next, missing packet.PSN) {
	if w.AwaitResponse(next); w.Op.Atomic() || !w.Op.Responded() {
		return
	}
	if w.Has(wqe.Scattered) {
		s.gather(w)
	}
	switch w.Flags &^= wqe.Taken; {
	case first == w.First && missing == next:
	case first == w.First && missing == w.Last.Add(1):
		w.Flags |= wqe.Taken
	default:
		s.scatter(w, first, missing)
	}
}

// scatter keeps apart where the answer to a READ starts, and what of it is missing.
func (s *SendQueue) scatter(w *wqe.SendWQE, first, missing packet.PSN) {
	i := &s.Lost().Issues
	i.Scattered = slices.DeleteFunc(i.Scattered, func(x Scattered) bool { // those that are not kept any more
		of, _ := s.Messages.Find(x.READ)
		return x.READ == w.First || of == nil || of.First != x.READ || !of.Has(wqe.Scattered)
	})
	i.Scattered = append(i.Scattered, Scattered{w.First, first, missing})
	w.Flags |= wqe.Scattered
}

// gather ends that.
func (s *SendQueue) gather(w *wqe.SendWQE) {
	if w.Flags &^= wqe.Scattered; s.Recovery != nil {
		i := &s.Recovery.Issues
		i.Scattered = slices.DeleteFunc(i.Scattered, func(x Scattered) bool { return x.READ == w.First })
	}
}

// EndAt takes last for the last PSN of message w. What of it was seen stays as it is.
func (s *SendQueue) EndAt(w *wqe.SendWQE, last packet.PSN) {
	if w.Has(wqe.Taken) {
		w.Flags &^= wqe.Taken
		s.scatter(w, w.First, w.Last.Add(1))
	}
	w.Last = last
}

// BeginAt has message w, a READ or any other, begin at psn: nothing of its answer was seen.
func (s *SendQueue) BeginAt(w *wqe.SendWQE, psn packet.PSN) {
	if w.Has(wqe.Scattered) {
		s.gather(w)
	}
	w.First = psn
	w.Flags &^= wqe.Taken
	w.AwaitResponse(psn)
}
