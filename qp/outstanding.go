package qp

import "ibwitness/wqe"

// Outstanding counts the requests that nothing seen has answered and that wait for an answer, and returns the oldest of them, or nil: of READs and
// atomics those whose own response is not whole, of SENDs and WRITEs those up to the newest that asks for an acknowledgement.
func (s *SendQueue) Outstanding() (n int, oldest *wqe.SendWQE) {
	asked := false
	for i := s.Messages.Len() - 1; i >= 0; i-- {
		w := s.Messages.At(i)
		if w.Last.Before(s.Una) {
			break
		}
		if asked = asked || w.Has(wqe.AckWanted); asked && !w.Has(wqe.Answered) {
			n++
			oldest = w
		}
	}
	return n, oldest
}

// OutstandingEnded counts those of Outstanding that are READs whose last response has come, and earlier ones are missing.
func (s *SendQueue) OutstandingEnded() (n int) {
	for i := s.Messages.Len() - 1; i >= 0; i-- {
		w := s.Messages.At(i)
		if w.Last.Before(s.Una) {
			break
		}
		if w.Op == wqe.Read && w.Flags&(wqe.Answered|wqe.Gapped|wqe.Reissued) == wqe.Gapped && w.RespNext().After(w.Last) {
			n++
		}
	}
	return n
}

// Refused reports whether the responder has refused a request for good: the connection is over.
func (r *ReceiveQueue) Refused() bool { return r.State == Failed }
