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

// Refused reports whether the responder has refused a request for good: the connection is over.
func (r *ReceiveQueue) Refused() bool { return r.State == Failed }
