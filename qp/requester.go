package qp

import (
	"ibwitness/packet"
	"ibwitness/wqe"
)

// Requester is the state of a requester, as far as the capture shows it.
type Requester uint8

// The states. A gap may be open beneath a retransmission, and both beneath a PSN far from the stream: the state is the topmost of them.
const (
	Unjoined       Requester = iota // nothing of its stream is known
	Fresh                           // its start PSN is known, and it has sent nothing yet
	InOrder                         // its requests follow one another
	AfterGap                        // the capture has missed requests before the newest, or what came after these is not retransmitted yet
	Retransmitting                  // it has gone back, and goes on in order from there
	AfterJump                       // its newest request has a PSN far from the stream
)

func (r Requester) String() string {
	return [...]string{"Unjoined", "Fresh", "InOrder", "AfterGap", "Retransmitting", "AfterJump"}[r]
}

// State is the state of the requester.
func (s *SendQueue) State() Requester {
	switch {
	case !s.Joined:
		return Unjoined
	case s.Jump != nil:
		return AfterJump
	case s.Retransmission.Active:
		return Retransmitting
	case s.Gap.Open() || s.Next != s.High:
		return AfterGap
	case s.Fresh:
		return Fresh
	}
	return InOrder
}

// Strict has a transition that is not possible panic. Tests set it before they begin; else the state is what the last transition made it.
var Strict bool

func must(possible bool, transition string, s *SendQueue) {
	if Strict && !possible {
		panic("qp: " + transition + " of a requester " + s.State().String())
	}
}

// Certain reports whether nothing is open about the requests that a requester InOrder has sent: what they are, how long, and how far they are answered.
func (s *SendQueue) Certain() bool {
	return s.Sequence.Certain() && s.ReadLen == 0 && !s.LacksResponse && !s.Credits.Limited && s.ReadDispute() == nil && !s.CountsAhead() && !s.HasForeign()
}

// Join begins the stream at a PSN in mid-stream, and keeps no request of before.
func (s *SendQueue) Join(psn packet.PSN) {
	had := s.SendSeldom
	*s = SendQueue{Messages: s.Messages, Joined: true, Sequence: Sequence{Unsure: true}, Next: psn, First: psn, High: psn, Una: psn, Count: s.Count}
	s.forget(had)
	s.Messages.Reset()
	s.History().Reset()
}

// Unjoin gives up the stream: the next request begins it again.
func (s *SendQueue) Unjoin() { s.Joined, s.Usual = false, false }

// Begin notes that the first request was sent.
func (s *SendQueue) Begin() { s.Fresh = false }

// BeginJump notes that p, without its payload, has a PSN far from the stream. room is where it is kept; nil: somewhere new.
func (s *SendQueue) BeginJump(p, room *packet.Packet) {
	must(s.Joined, "BeginJump", s)
	if room == nil {
		room = new(packet.Packet)
	}
	*room = *p
	room.Payload, room.Pad, room.Data = nil, nil, nil
	s.seldom().Jump = room
}

// Advance takes psn for the next one.
func (s *SendQueue) Advance(psn packet.PSN) {
	s.Next = psn
	s.High = packet.Later(s.High, psn)
}

// Expect takes psn for the next one, though not for one that was sent.
func (s *SendQueue) Expect(psn packet.PSN) { s.Next = psn }

// AdvanceUnacknowledged is Advance on a service that acknowledges nothing.
func (s *SendQueue) AdvanceUnacknowledged(psn packet.PSN) {
	s.Advance(psn)
	s.Una = psn
}

// Resume takes psn for the next one, whatever was seen after it.
func (s *SendQueue) Resume(psn packet.PSN) { s.Next, s.High = psn, psn }

// CatchUp takes the PSN after the newest request for the next one, where the responder has what the capture has not.
func (s *SendQueue) CatchUp() {
	if s.Next.Before(s.High) {
		s.Next = s.High
		s.LoseMessage()
	}
}

// Rewind goes back to a PSN in a gap, so that what is retransmitted from there is judged as new. pmtu is the path MTU in bytes.
func (s *SendQueue) Rewind(psn packet.PSN, pmtu uint32) {
	must(s.Joined, "Rewind", s)
	for i := range s.Messages.Len() {
		if w := s.Messages.At(i); w.Has(wqe.Taken) && w.First.Before(psn) && !w.Last.Before(psn) {
			s.EndAt(w, w.Last) // it will be cut
		}
	}
	if n, dropped := s.Messages.Truncate(psn); dropped {
		s.Count = n
	}
	s.LoseMessage()
	s.Next, s.RdOut = psn, 0
	s.AwaitSize(0)
	s.Invalidate(0)
	for i := range s.Messages.Len() {
		if w := s.Messages.At(i); w.Op.Responded() && !w.Has(wqe.Answered) && !w.Last.Before(s.Una) {
			s.RdOut++
		}
	}
	w := s.Messages.Newest()
	if w == nil || w.Last != psn.Add(-1) {
		return
	}
	s.Count, s.Epoch = (w.Ordinal+1)&packet.PSNMask, w.Epoch
	s.Sequence.Unsure = w.Has(wqe.Unsized) // else it ends here
	if !w.Has(wqe.Ended) && (w.Op == wqe.Send || w.Op == wqe.Write) {
		s.Open = w.Op
		w.Progress = uint32(psn.Diff(w.First)) * pmtu
	}
}

// ForgetBefore takes psn for the PSN at which the stream was joined.
func (s *SendQueue) ForgetBefore(psn packet.PSN) { s.First = psn }

// ExplainNextGap notes that a packet with a fault explains a gap after it.
func (s *SendQueue) ExplainNextGap() { s.GapExplained = true }

// CloseExplanation notes that nothing explains a gap any more.
func (s *SendQueue) CloseExplanation() { s.GapExplained = false }

// AwaitSize notes that how many PSNs a READ of length bytes takes is not known; 0: it is.
func (s *SendQueue) AwaitSize(length uint32) {
	if length == s.ReadLen {
		return
	}
	if s.seldom().ReadLen = length; length == 0 {
		s.dropSeldom() // a connection that begins with a READ may have no other use of it
	}
}

// SizeRead notes that the newest READ takes the PSNs up to next.
func (s *SendQueue) SizeRead(next packet.PSN) {
	s.AwaitSize(0)
	s.Advance(next)
}

// ReadBegins counts one READ or atomic more that is not yet answered.
func (s *SendQueue) ReadBegins() { s.RdOut++ }

// ReadsBegin counts n more of them.
func (s *SendQueue) ReadsBegin(n uint16) { s.RdOut += n }

// ReadsDone counts n less of them. There are as many.
func (s *SendQueue) ReadsDone(n uint16) { s.RdOut -= n }

// BoundReads notes that there are at most n of them.
func (s *SendQueue) BoundReads(n uint16) { s.RdOut = min(s.RdOut, n) }

// ExceedReads notes whether there are more than there may be, and that was reported.
func (s *SendQueue) ExceedReads(over bool) { s.RdOver = over }

// Acknowledge notes that everything before psn is acknowledged: that is progress.
func (s *SendQueue) Acknowledge(psn packet.PSN) { s.Una, s.Restarts = psn, 0 }

// AssumeAcknowledged takes everything before psn for acknowledged, though no response has made progress.
func (s *SendQueue) AssumeAcknowledged(psn packet.PSN) { s.Una = psn }

// TakeBack notes that a NAK which was reported takes the acknowledgement of what is from psn on back.
func (s *SendQueue) TakeBack(psn packet.PSN) {
	l := s.Lost()
	l.TakenBack.Put(s.Una)
	s.Una = psn
}

// CloseBack notes that the requester has gone on since.
func (s *SendQueue) CloseBack() { s.Recovery.TakenBack.Clear() }

// StartTimer notes when the transport timer began to run.
func (s *SendQueue) StartTimer(now int64) { s.TimerStart = now }

// LackNothing notes that the requester can have processed all responses.
func (s *SendQueue) LackNothing() { s.LacksResponse = false }

// Invalidate notes the R_Key that a SEND with Invalidate named; 0: none does any more.
func (s *SendQueue) Invalidate(key uint32) {
	if key != s.InvRKey {
		s.seldom().InvRKey = key
	}
}

// NameSRQ notes the shared receive queue of the message that is open, with SRQSet.
func (s *SendQueue) NameSRQ(srq uint32) {
	if srq != s.SRQ {
		s.seldom().SRQ = srq
	}
}

// Settle notes whether the next packets are those of the fast path, and what attributes limit of them.
func (s *SendQueue) Settle(usual bool, limited Limit) { s.Usual, s.Limited = usual, limited }

// Step notes that a datagram with psn follows the newest one, and returns by how many PSNs. Of the send queue of datagrams Retransmission.From is the newest step back, Restarts
// how often it was made in a row, First where the PSN counted up from.
func (s *SendQueue) Step(psn packet.PSN) int {
	step := psn.Diff(s.Last.PSN)
	switch back := packet.PSN(0).Add(step); {
	case step > 0:
		if s.Restarts != 0 {
			s.First = s.Last.PSN
		}
		s.Restarts = 0
	case s.Restarts == 0 || back != s.Retransmission.From:
		s.seldom().Retransmission.From, s.Restarts = back, 1
	default:
		s.Restarts++
	}
	return step
}

// CameDatagram notes that p is the newest datagram of an end.
func (c *Pair) CameDatagram(from int, p *packet.Packet) {
	l := &c.Ends[from].SQ.Last
	l.PSN, l.Frame, l.Tap, c.RQ(from).Last.ICRC = p.PSN, p.Frame, p.Tap, p.ICRC
}
