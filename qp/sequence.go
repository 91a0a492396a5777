package qp

import (
	"ibwitness/packet"
	"ibwitness/wqe"
)

// Sequence is what is out of the ordinary about the sequence of opcodes, beside the message that is open.
type Sequence struct {
	Interrupted wqe.Op // message that a READ or atomic broke into, while that is the newest packet
	Odd         wqe.Op // operation of a Middle or Last that did not fit the open message, while it is the newest packet
	Unsure      bool   // whether a message is open is not known: joined in mid-stream, or after a gap
}

// SetUnsure notes whether it is not known that a message is open.
func (q *Sequence) SetUnsure(unsure bool) { q.Unsure = unsure }

// SetOdd notes the operation of a packet that did not fit the open message; None: it did.
func (q *Sequence) SetOdd(op wqe.Op) { q.Odd = op }

// Interrupt notes the message that the newest packet may have broken into; None: none.
func (q *Sequence) Interrupt(op wqe.Op) { q.Interrupted = op }

// Certain reports whether nothing is.
func (q *Sequence) Certain() bool { return !q.Unsure && q.Odd == wqe.None && q.Interrupted == wqe.None }

// LoseMessage notes that whether a message is open is not known, and that none is taken for it.
func (s *SendQueue) LoseMessage() { s.Open, s.Sequence.Unsure = wqe.None, true }

// OpenMessage notes that a message is open, of which more packets are to come.
func (s *SendQueue) OpenMessage(op wqe.Op) { s.Open = op }

// CloseMessage notes that none is taken for open.
func (s *SendQueue) CloseMessage() { s.Open = wqe.None }

// EndMessage notes that none is open, for certain.
func (s *SendQueue) EndMessage() { s.Open, s.Sequence.Unsure = wqe.None, false }

// CountMessage counts a message that has begun.
func (s *SendQueue) CountMessage() { s.Count = (s.Count + 1) & packet.PSNMask }
