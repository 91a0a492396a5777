package qp

// A receiver asks for what it lacks as soon as a later packet comes. Where its PSN sequence NAK comes long after the last packet of the message of what it asks for, none of the
// others of that came either: they were lost in a row.

// Tails are such ends of messages.
type Tails struct {
	Count           uint32
	Least, Most     uint32 // packets in a row
	Soonest, Latest int64  // NAKs after the last packet of the message, nanoseconds
}

// longAfter is how long after that a NAK comes at least to be noted.
const longAfter = int64(5e6)

// LostTail notes that a PSN sequence NAK has come some time after the last packet of a message, and asks for the packet n before the end of that, which has more after it.
func (s *SendQueue) LostTail(n int, after int64) {
	if after < longAfter || n < 2 {
		return
	}
	s.trouble().Asked.Tails.Add(&Tails{1, uint32(n), uint32(n), after, after})
}

// Add adds others.
func (t *Tails) Add(o *Tails) {
	switch {
	case o.Count == 0:
		return
	case t.Count == 0:
		*t = *o
		return
	}
	t.Count += o.Count
	t.Least, t.Most = min(t.Least, o.Least), max(t.Most, o.Most)
	t.Soonest, t.Latest = min(t.Soonest, o.Soonest), max(t.Latest, o.Latest)
}
