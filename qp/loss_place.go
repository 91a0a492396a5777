package qp

import "ibwitness/packet"

// On which side of the tap a request or its answer was lost, PSN sequence NAKs and answers that come once more show.

// Answered notes that the tap had seen the answer to what the timer had the requester retransmit, in the newest round; lost says that it had long passed it then, and
// damaged that it, or what comes after it, may have passed it only so that the requester dropped it.
func (s *SendQueue) Answered(lost, damaged bool) {
	t := s.trouble()
	if !damaged {
		t.AnswersSeen++
	}
	t.Now.Acked, t.Now.AnswerLost = true, t.Now.AnswerLost || lost
}

// SentEarlier notes that the timer had the requester retransmit, in the newest round, what it had sent before the capture: whether that was asked for is not known.
func (s *SendQueue) SentEarlier() { s.trouble().Earlier++ }

// PassedOver notes that the READ or atomic that the requester retransmits, in the newest round, has no response, while one to a later request has come in a frame, of which these are the low bits: the responder has taken it. nak says that it is a PSN sequence NAK for one.
func (s *SendQueue) PassedOver(frame uint32, nak bool) {
	t := s.trouble()
	if t.Round == TimerExpired {
		t.PassedOver++
	}
	if t.Now.PassedOver == 0 {
		t.Now.PassedOver, t.Now.OnlyNAKed = frame, nak
	} else if t.Now.OnlyNAKed && !nak {
		t.Now.PassedOver, t.Now.OnlyNAKed = frame, false
	}
}

// LacksEnd notes that of the response to the READ that the timer had the requester retransmit, in the newest round, the first packets had come, and the last ones not: the responder has taken it.
func (s *SendQueue) LacksEnd() { s.trouble().Now.Cut = true }

// LackedEnd reports whether only the last packets of a response were missing: the first had come, and what was asked for again came at once. A responder that stopped in its midst would not have answered that.
func (k *Stall) LackedEnd() bool {
	return k.Cut && !k.Acked && k.Total() == 1 && k.Ended != 0 && !k.Skipped && 4*(k.Ended-k.Last) < k.Last-k.Since
}

// AnsweredLater notes that the tap had seen the answer to what a later response had the requester retransmit, in the newest round.
func (s *SendQueue) AnsweredLater() {
	t := s.trouble()
	t.Passed++
	t.Now.Acked, t.Now.AnswerLost = true, true
}

// CountAsked notes that a PSN sequence NAK asks for a PSN, where the tap has seen all before expected in order. It reports whether the packet was lost after the tap.
func (s *SendQueue) CountAsked(psn, expected packet.PSN) (after bool) {
	switch a := &s.trouble().Asked; {
	case !psn.Before(expected) && s.hadPassed(psn, expected): // which of its copies the receiver has not had is not known
	case psn == expected && s.comesNext() == psn: // it is about to be retransmitted, and had passed the tap before its turn
	case !psn.Before(expected):
		a.Before++
	case psn.Before(s.First): // the capture does not show it: whether it had passed the tap before that began is not known
	case s.Recovery == nil || s.Recovery.Late.PSN != psn: // else it came late, and may have been NAKed before
		a.After++
		return true
	}
	return false
}

// CameLate notes that a response shows that the responder has taken what its newest PSN sequence NAK asks for, though that was not retransmitted: it had only come after later ones.
func (s *SendQueue) CameLate(now int64) {
	a := &s.trouble().Asked
	a.Late, a.LateAt = a.Late+1, now
}

// OutOfOrder reports whether it is shown that packets of the connection came out of order, on either side of the tap, in a time before now.
func (s *SendQueue) OutOfOrder(now, within int64) bool {
	t := s.Trouble()
	if t == nil {
		return false
	}
	for _, o := range []*Overtaking{t.Overtaking, t.Responses} {
		if all := o.All(); all.Numbered > 0 && now-all.Last <= within {
			return true
		}
	}
	return t.Asked.Late > 0 && now-t.Asked.LateAt <= within
}

// hadPassed reports whether the tap has seen a PSN that a NAK asks for after the one that is expected, or, where it is that one, that its requester
// has gone back since and left out none that the tap lacks.
func (s *SendQueue) hadPassed(psn, expected packet.PSN) bool {
	if s.History().Get(psn) == nil {
		return false
	}
	t := s.trouble()
	wentBack := t.Now.Total() > 0 || t.Sum.Total() > 0
	return psn.After(expected) || wentBack && !(s.Gap.Open() && !psn.Before(s.Gap.From) && psn.Before(s.Gap.To))
}

// WentShort reports whether of what the requester had sent, and went back to, the tap has not seen the end again by a time, long after the rest, none of which asks for an acknowledgment: the end was lost before the tap,
// though the tap had seen it before, and the timer ran out for it.
func (s *SendQueue) WentShort(now int64) bool {
	t := s.sender.trouble
	if t == nil || !t.Back.Set || t.Round == NotReady || now-s.Last.Time < leastTimer || !t.Back.Next.Before(s.High) || s.High.Diff(s.Una) >= sendWindow {
		return false
	}
	if t.Overtaking.All().Packets > 0 || t.Back.Next.Diff(t.From) < 2 {
		return false // what came out of order, or as the only one, may not be retransmitted at all, but late
	}
	return s.noneAsksBefore(t.Back.Next)
}

// CountWentShort notes that this was so when the newest round began.
func (s *SendQueue) CountWentShort() { s.trouble().WentShort++ }

// NAKed notes that a PSN sequence NAK asks for what the requester retransmits, in the newest round, be it for that or not.
func (s *SendQueue) NAKed() { s.trouble().Now.Asked = true }

// AskedForUnshown notes that the NAK which has the requester go back, in the newest round, asks for a PSN before that, which no request in the capture had.
func (s *SendQueue) AskedForUnshown() { s.trouble().Now.Unshown = true }

// AnsweredAgain notes that the responder has acknowledged a PSN once more, which it had acknowledged before: where the timer had the requester retransmit that, and there is
// an answer more than packets that were retransmitted, or than rounds to the last of them, nothing was lost.
func (s *SendQueue) AnsweredAgain(psn packet.PSN) {
	t := s.Trouble()
	if t == nil || t.Late.Left == 0 || psn.Before(t.Late.From) || !psn.Before(t.Late.To) {
		return
	}
	t.Late.Left--
	last := t.Late.LastLeft > 0 && psn == t.Late.Last
	if last {
		t.Late.LastLeft--
	}
	if t.Late.Left > 0 && (!last || t.Late.LastLeft > 0) {
		return
	}
	t.Late.Left, t.Late.LastLeft = 0, 0
	t.Late.Rounds += uint32(t.Late.Of)
	t.Late.Ahead -= min(t.Late.Ahead, uint32(t.Late.OfAhead)) // they are counted once
	t.Late.OfAhead = 0
	t.Unsent -= min(t.Unsent, uint32(t.Late.Unsent)) // it had not answered yet
	t.Late.Unsent = 0
	for i := range t.Longest {
		if k := &t.Longest[i]; k.Ended != 0 && k.Request.PSN == t.Late.From {
			k.Late = true
		}
	}
}
