package qp

import (
	"ibwitness/packet"
)

// Retransmission is the newest retransmission of a requester: it goes back to a PSN, and goes on in order from there until it sends a new request.
type Retransmission struct {
	From packet.PSN // PSN at which it began
	Next packet.PSN // PSN that continues it, while Active
	// ReadLen is the DMALen of the READ that Next comes after, while how many PSNs it takes is not known and Next is the least of them.
	ReadLen uint32
	Active  bool
}

// BeginRetransmission notes that a request was retransmitted, and that next goes on with it.
func (s *SendQueue) BeginRetransmission(next packet.PSN) {
	t := &s.seldom().Retransmission
	t.Active, t.Next, t.ReadLen = true, next, 0
}

// ContinueRetransmission notes that psn goes on with the retransmission.
func (s *SendQueue) ContinueRetransmission(psn packet.PSN) {
	s.mustRetransmit("ContinueRetransmission")
	s.seldom().Retransmission.Next = psn
}

// ContinueAfterRead notes that a READ of length bytes was retransmitted, of which it is not known how many PSNs it takes.
func (s *SendQueue) ContinueAfterRead(length uint32) {
	s.mustRetransmit("ContinueAfterRead")
	s.seldom().Retransmission.ReadLen = length
}

// EndRetransmission notes that the requester has sent a new request.
func (s *SendQueue) EndRetransmission() {
	if s.Retransmission.Active {
		s.seldom().Retransmission.Active = false
	}
}

// MoveRetransmission notes that the READ before the retransmission goes on ends at another PSN than it was taken for.
func (s *SendQueue) MoveRetransmission(was, now packet.PSN) {
	if s.Retransmission.Next == was && was != now {
		s.seldom().Retransmission.Next = now
	}
}

func (s *SendQueue) mustRetransmit(transition string) {
	if Strict && !s.Retransmission.Active {
		panic("qp: " + transition + " of none")
	}
}

// MoveRetransmittedTo notes the same of the PSN up to which requests had been sent when one last was retransmitted.
func (s *SendQueue) MoveRetransmittedTo(was, now packet.PSN) {
	if s.Recovery != nil {
		move(&s.Recovery.Retransmitted.PSN, was, now)
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
	if psn != s.Retransmission.From {
		s.seldom().Retransmission.From, s.Restarts = psn, 0
	}
}

// CountRestart counts a retransmission without progress.
func (s *SendQueue) CountRestart() {
	if s.Restarts++; s.Restarts == 1 && s.Recovery != nil {
		s.Recovery.NAKRestarts = 0
	}
}

// CountNAKRestart counts that a NAK has asked for the newest of them.
func (s *SendQueue) CountNAKRestart() { s.Lost().NAKRestarts++ }

// MayCross notes that what the newest NAK asks for may have been retransmitted already.
func (s *SendQueue) MayCross() { s.Lost().NAK.Crossed = true }

// Refute notes that the newest NAK was reported: it asks for what had arrived.
func (s *SendQueue) Refute() { s.Lost().NAK.Refuted = true }

// SetAfterIdle notes whether the newest retransmission began after a silence in which the queue pair may have been connected again.
func (s *SendQueue) SetAfterIdle(idle bool) {
	if idle || s.Recovery != nil && s.Recovery.AfterIdle {
		s.Lost().AfterIdle = idle
	}
}

// TimedOut notes after which time a request was retransmitted that nothing had answered and no NAK asked for.
func (s *SendQueue) TimedOut(waited int64) {
	if l := s.Lost(); waited > 0 && (l.Timer == 0 || waited < l.Timer) {
		l.Timer = waited
	}
}

// TimerSeen is the shortest time after which a request was retransmitted that nothing had answered and no NAK asked for, nanoseconds; 0: none was.
func (s *SendQueue) TimerSeen() int64 {
	if s.Recovery == nil {
		return 0
	}
	return s.Recovery.Timer
}

// Needless notes that something was retransmitted that is acknowledged. It reports whether that is the first time since there was progress.
func (s *SendQueue) Needless() bool {
	l := s.Lost()
	if l.Needless.Is(s.Una) {
		return false
	}
	l.Needless.Put(s.Una)
	return true
}

// MayLackResponsesUntil notes until when the requester may lack answers that passed a tap near it.
func (s *SendQueue) MayLackResponsesUntil(until int64) { s.Lost().Lack.Until = until }

// ReportSilent notes that it was reported that nothing was retransmitted.
func (s *SendQueue) ReportSilent() { s.Lost().Reported.Silent = s.TimerStart }

// ReportUnanswered notes that it was reported that the oldest request has no answer. One that comes after all is not usual.
func (s *SendQueue) ReportUnanswered() {
	s.Lost().Reported.Unanswered = s.Una | Valid
	s.Usual = false
}

// SetFirstAfterNAK notes that p is the first new request after the newest NAK that may ignore it; nil: there is none any more.
func (s *SendQueue) SetFirstAfterNAK(p *packet.Packet) { s.Lost().AfterNAK.First = p }

// SetLastAfterNAK notes when the newest request that may ignore a NAK was sent.
func (s *SendQueue) SetLastAfterNAK(now int64) { s.Lost().AfterNAK.Last = now }

// ForgetIssues forgets all reissued READs: they have been answered.
func (s *SendQueue) ForgetIssues() {
	if s.Recovery != nil {
		s.Recovery.Issues.Pending = s.Recovery.Issues.Pending[:0]
	}
}

// KeepAltered keeps what a request was retransmitted as, which is another one than before.
func (s *SendQueue) KeepAltered(t packet.Trace) { s.Lost().Altered.Trace = t }

// SwapAltered has the history keep what a request was retransmitted as, in place of what it was first.
func (s *SendQueue) SwapAltered(first *Sent) {
	first.Trace, s.Recovery.Altered.Trace = s.Recovery.Altered.Trace, first.Trace
	s.History().Put(first.PSN&packet.PSNMask, uint64(first.Frame), first.Trace, 0)
}

// NAKJump notes that requests far from the stream were NAKed and reported, those up to a PSN.
func (s *SendQueue) NAKJump(to packet.PSN) {
	l := s.Lost()
	l.Jump.NAKed.Put(to.Add(1))
}

// CountAfter notes that the response at psn counts a message that is open, or one that was not seen sent.
func (s *SendQueue) CountAfter(psn packet.PSN) {
	l := s.Lost()
	l.Counted.Put(psn)
}

// CloseCounted forgets it.
func (s *SendQueue) CloseCounted() { s.Recovery.Counted.Clear() }

// CountAhead notes a response that counts READs or atomics after its PSN.
func (s *SendQueue) CountAhead(o Overcount) { s.Lost().Ahead = o }

// TakeAhead returns it, and forgets it.
func (s *SendQueue) TakeAhead() Overcount {
	o := s.Recovery.Ahead
	s.Recovery.Ahead.Set = false
	return o
}

// OpenReadDispute notes that the responses to the newest READ are those to another length.
func (s *SendQueue) OpenReadDispute(next packet.PSN, ended bool) {
	s.Lost().ReadDispute = &ReadDispute{Next: next, Ended: ended}
}

// CloseReadDispute notes that who is wrong is known.
func (s *SendQueue) CloseReadDispute() { s.Recovery.ReadDispute = nil }

// Continue notes that the responses go on.
func (d *ReadDispute) Continue(next packet.PSN, ended bool) { d.Next, d.Ended = next, ended }

// Ignore notes a READ or atomic that may be ignored.
func (s *SendQueue) Ignore(i Ignored) { s.Lost().Ignored = i }

// NoteRetransmitted notes that it was retransmitted once more.
func (d *Ignored) NoteRetransmitted() { d.Retransmitted = true }

// AnswerLater notes that a request after it was answered.
func (d *Ignored) AnswerLater() { d.LaterAnswered = true }

// Close forgets it.
func (d *Ignored) Close() { d.Request = nil }
