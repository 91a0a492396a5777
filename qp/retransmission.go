package qp

import (
	"ibwitness/packet"
)

// BeginRetransmission notes that a request was retransmitted, and that next goes on with it.
func (s *SendQueue) BeginRetransmission(next packet.PSN) {
	s.Retrying, s.Retry, s.RetryLen = true, next, 0
}

// ContinueAt notes that psn goes on with the retransmission.
func (s *SendQueue) ContinueAt(psn packet.PSN) {
	must(s.Retrying, "ContinueAt", s)
	s.Retry = psn
}

// ContinueAfterRead notes that a READ of length bytes was retransmitted, of which it is not known how many PSNs it takes.
func (s *SendQueue) ContinueAfterRead(length uint32) {
	must(s.Retrying, "ContinueAfterRead", s)
	s.RetryLen = length
}

// EndRetransmission notes that the requester has sent a new request.
func (s *SendQueue) EndRetransmission() { s.Retrying = false }

// MoveRetry notes that the READ before the retransmission goes on ends at another PSN than it was taken for.
func (s *SendQueue) MoveRetry(was, now packet.PSN) {
	move(&s.Retry, was, now)
}

// MoveAgain notes the same of the PSN up to which requests had been sent when one last was retransmitted.
func (s *SendQueue) MoveAgain(was, now packet.PSN) {
	if s.Recovery != nil {
		move(&s.Recovery.Again, was, now)
	}
}

// move sets a PSN that was equal to was.
func move(psn *packet.PSN, was, now packet.PSN) {
	if *psn == was {
		*psn = now
	}
}

// RestartAt notes that a retransmission begins at psn.
func (s *SendQueue) RestartAt(psn packet.PSN) {
	if psn != s.Restart {
		s.Restart, s.Restarts = psn, 0
	}
}

// CountRestart counts a retransmission without progress.
func (s *SendQueue) CountRestart() {
	if s.Restarts++; s.Restarts == 1 && s.Recovery != nil {
		s.Recovery.Told = 0
	}
}

// CountTold counts that a NAK has asked for the newest of them.
func (s *SendQueue) CountTold() { s.Lost().Told++ }

// MayCross notes that what the newest NAK asks for may have been retransmitted already.
func (s *SendQueue) MayCross() { s.Lost().Crossed = true }

// Refute notes that the newest NAK was reported: it asks for what had arrived.
func (s *SendQueue) Refute() { s.Lost().Refuted = true }

// Sleep notes whether the newest retransmission began after a silence in which the queue pair may have been connected again.
func (s *SendQueue) Sleep(asleep bool) {
	if asleep || s.Recovery != nil && s.Recovery.Slept {
		s.Lost().Slept = asleep
	}
}

// TimedOut notes after which time a request was retransmitted that nothing had answered and no NAK asked for.
func (s *SendQueue) TimedOut(waited int64) {
	if l := s.Lost(); waited > 0 && (l.Timer == 0 || waited < l.Timer) {
		l.Timer = waited
	}
}

// Needless notes that something was retransmitted that is acknowledged. It reports whether that is the first time since there was progress.
func (s *SendQueue) Needless() bool {
	l := s.Lost()
	if l.Judged && l.Needless == s.Una {
		return false
	}
	l.Judged, l.Needless = true, s.Una
	return true
}

// UnawareUntil notes until when the requester may lack answers that passed a tap near it.
func (s *SendQueue) UnawareUntil(until int64) { s.Lost().UnawareTo = until }

// TellSilent notes that it was reported that nothing was retransmitted.
func (s *SendQueue) TellSilent() { s.Lost().Silent = s.AskedAt }

// TellUnanswered notes that it was reported that the oldest request has no answer.
func (s *SendQueue) TellUnanswered() { s.Lost().Unanswered = s.Una | Valid }

// Unheed notes that p is the first new request after the newest NAK that may ignore it; nil: there is none any more.
func (s *SendQueue) Unheed(p *packet.Packet) { s.Lost().Unheeded = p }

// UnheedOn notes when the newest request that may ignore a NAK was sent.
func (s *SendQueue) UnheedOn(now int64) { s.Lost().UnheededTo = now }

// ForgetIssues forgets all READs that were asked for again: they have been answered.
func (s *SendQueue) ForgetIssues() {
	if s.Recovery != nil {
		s.Recovery.Issues = s.Recovery.Issues[:0]
	}
}

// KeepOther keeps what a request was retransmitted as, which is another one than before.
func (s *SendQueue) KeepOther(t packet.Trace) { s.Lost().OtherIs = t }

// SwapOther has the history keep what a request was retransmitted as, in place of what it was first.
func (s *SendQueue) SwapOther(first *Sent) {
	first.Trace, s.Recovery.OtherIs = s.Recovery.OtherIs, first.Trace
}

// LeapRefused notes that requests far from the stream were NAKed and reported, those up to a PSN.
func (s *SendQueue) LeapRefused(to packet.PSN) {
	l := s.Lost()
	l.Leapt, l.LeapTo = true, to.Add(1)
}

// CountOpen notes that the response at psn counts a message that is open.
func (s *SendQueue) CountOpen(psn packet.PSN) {
	l := s.Lost()
	l.Counted, l.CountedAt = true, psn
}

// CloseCounted forgets it.
func (s *SendQueue) CloseCounted() { s.Recovery.Counted = false }

// CountAhead notes a response that counts READs or atomics after its PSN.
func (s *SendQueue) CountAhead(o Overcount) { s.Lost().Ahead = o }

// TakeAhead returns it, and forgets it.
func (s *SendQueue) TakeAhead() Overcount {
	o := s.Recovery.Ahead
	s.Recovery.Ahead.Set = false
	return o
}

// OpenDoubt notes that the responses to the newest READ are those to another length.
func (s *SendQueue) OpenDoubt(next packet.PSN, ended bool) {
	s.Lost().Doubt = &Doubt{Next: next, Ended: ended}
}

// CloseDoubt notes that who is wrong is known.
func (s *SendQueue) CloseDoubt() { s.Recovery.Doubt = nil }

// Continue notes that the responses go on.
func (d *Doubt) Continue(next packet.PSN, ended bool) { d.Next, d.Ended = next, ended }

// Ignore notes a READ or atomic that may be ignored.
func (s *SendQueue) Ignore(i Ignored) { s.Lost().Ignored = i }

// ComeAgain notes that it came once more.
func (d *Ignored) ComeAgain() { d.Again = true }

// PassOver notes that a request after it was answered.
func (d *Ignored) PassOver() { d.Passed = true }

// Close forgets it.
func (d *Ignored) Close() { d.Request = nil }
