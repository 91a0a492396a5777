package qp

import "slices"

// Return is that a requester goes back since a NAK asks for it, at time From at the earliest and, if it stands still, until To; 0: it does not.
type Return struct{ From, To int64 }

// Asks notes that a NAK has the requester go back, and within which time.
func (s *SendQueue) Asks(from, to int64) {
	o := &s.Lost().Owes
	copy(o[1:], o[:])
	o[0] = Return{from, to}
}

// WentBack notes that the requester went back: for the oldest NAK that it may have been for.
func (s *SendQueue) WentBack(now int64) {
	if s.Recovery == nil {
		return
	}
	o := &s.Recovery.Owes
	for i := len(o) - 1; i >= 0; i-- {
		if o[i].within(now) {
			copy(o[i:], o[i+1:])
			o[len(o)-1] = Return{}
			return
		}
	}
}

// MayGoBack reports whether a NAK may have the requester go back at a time: any, or one before the newest.
func (s *SendQueue) MayGoBack(now int64, newest bool) bool {
	if s.Recovery == nil {
		return false
	}
	o := s.Recovery.Owes[:]
	if !newest {
		o = o[1:]
	}
	return slices.ContainsFunc(o, func(r Return) bool { return r.within(now) })
}

func (r Return) within(now int64) bool { return now >= r.From && now < r.To }
