package qp

import (
	"ibwitness/packet"
	"ibwitness/wqe"
)

// Unpair ends the time in which the responses to this send queue were not known: everything before psn counts as answered. near
// says that the tap is near: then its requester may lack an answer yet.
func (s *SendQueue) Unpair(psn packet.PSN, near bool) {
	s.Una, s.RdOut, s.LacksResponse = psn, 0, s.LacksResponse && near
	if near && !s.LacksResponse && s.Retransmission.Active && !psn.Before(s.Retransmission.Next) && s.Messages.Len() > 0 {
		s.LackResponse(s.Messages.At(0).First, 0) // it has gone back, and may not know how far it is acknowledged until it is there again
	}
	for i := range s.Messages.Len() {
		w := s.Messages.At(i)
		if !w.Op.Responded() {
			continue
		}
		if near && w.First.Before(psn) && !s.LacksResponse {
			s.LackResponse(w.First, 0)
		}
		if w.Last.Before(psn) {
			w.Flags |= wqe.Answered
			s.AnswerFrom(w, s.RespFirst(w), w.RespNext(), w.Last.Add(1)) // as far as anyone can tell
			continue
		}
		if !w.Has(wqe.Answered) {
			s.RdOut++
			next, missing := w.First, s.Missing(w)
			if psn.In(w.First, w.Last) {
				next, missing = psn, psn
			}
			s.AnswerFrom(w, s.RespFirst(w), next, missing)
		}
	}
}

// Begin sets up both halves of a QP pair for a connection that starts with known PSNs: from sends its first request with psn.
func Begin(c *Pair, from int, psn packet.PSN) {
	if from == 1 {
		c.Both()
	}
	s, r := &c.Ends[from].SQ, c.RQ(1-from)
	had := s.SendSeldom
	*s = SendQueue{Joined: true, Fresh: true, Next: psn, First: psn, High: psn, Una: psn}
	s.forget(had)
	r.Join(psn)
	r.MSN = MSN{Degree: MSNKnown, StartKnown: true}
}

// ReadDone counts one READ or atomic less that is not yet answered.
func (s *SendQueue) ReadDone() { s.RdOut -= min(s.RdOut, 1) }
