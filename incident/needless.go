package incident

import (
	"ibwitness/qp"
)

// lateRounds is in how many rounds of retransmission at least nothing was lost, as the answers came late: it is known of each, or as many ACKs came as all copies ask for, those that were sent first
// among them, and nothing speaks for a loss.
func lateRounds(k *qp.Trouble) uint32 {
	if !countsTell(k) {
		return k.Late.Rounds
	}
	return max(k.Late.Rounds, min(k.Copies.Needless(), k.Sum.Rounds[qp.TimerExpired]))
}

// countsTell reports whether only timers had a requester retransmit, again and again, neither a NAK nor what the tap has seen says that something was lost, and nearly as many ACKs came as copies ask for.
func countsTell(k *qp.Trouble) bool {
	s := &k.Sum
	n := s.Rounds[qp.TimerExpired]
	return n >= fewestLate && s.Total() == uint64(n) && s.Before+k.Earlier+k.AnswersSeen+k.Passed+k.PassedOver == 0 && k.Asked.Before+k.Asked.After+k.Asked.Late == 0 && k.RNR.NAKs == 0 &&
		10*uint64(k.Copies.Needless()) >= 9*uint64(n)
}

// cameLate reports whether the answer to a stall came late, and nothing was lost: each copy of its own was answered, or of all but few as their numbers show.
func cameLate(k *qp.Trouble, s *qp.Stall) bool {
	return s.Late || countsTell(k) && s.Total() > 0 && s.Ended > s.Last && !s.Acked
}
