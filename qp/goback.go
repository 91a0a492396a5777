package qp

import (
	"math"
	"slices"

	"ibwitness/packet"
)

// Return is that a requester goes back since a NAK asks for it, at time From at the earliest and, if its host is stopped, until To; 0: it does not.
type Return struct {
	From, To int64
	PSN      packet.PSN // that the NAK asks for
}

// Asks notes that a NAK has the requester go back to psn, and within which time.
func (s *SendQueue) Asks(psn packet.PSN, from, to int64) {
	o := &s.Lost().Owes
	copy(o[1:], o[:])
	o[0] = Return{from, to, psn}
}

// WentBack notes that the requester went back to psn: for the oldest NAK that it may have been for, and for one of the responses that have passed over
// others. It has what is before psn.
func (s *SendQueue) WentBack(psn packet.PSN, now int64) {
	r := s.Recovery
	if r == nil {
		return
	}
	r.Skips -= min(r.Skips, 1)
	if psn.After(r.SkipFrom) {
		r.SkipFrom = psn
	}
	o := &r.Owes
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

// OwesTo reports whether a NAK before the newest asks for psn, and the requester has not gone back for it yet, however long ago that was where it has sent
// nothing since: soft-RoCE takes no response to later PSNs until it has retransmitted that one.
func (s *SendQueue) OwesTo(psn packet.PSN, now int64) bool {
	return s.Recovery != nil && slices.ContainsFunc(s.Recovery.Owes[1:], func(r Return) bool {
		return r.PSN == psn && (r.within(now) || s.LastTime < r.From && r.From != 0)
	})
}

// skipped notes, at time now, that a response has passed over the one at psn, at a tap near the requester, which goes back to it.
func (s *SendQueue) skipped(psn packet.PSN, now int64) {
	r := s.Lost()
	if r.Skips == 0 || psn.Before(r.SkipFrom) {
		r.SkipFrom = psn
	}
	r.SkipAt, r.Skips = now, r.Skips+min(1, math.MaxUint16-r.Skips)
}

// PassedOver notes that up to n responses came, before it was known that they are to these requests, to PSNs after the one that is answered at time
// now: each may have passed over a response before it.
func (s *SendQueue) PassedOver(psn packet.PSN, now int64, n uint64) {
	r := s.Lost()
	r.SkipFrom, r.SkipAt, r.Skips = psn, now, uint16(min(n, math.MaxUint16))
}

// Skipped reports whether a response has passed over the one at psn, or one before it, within some time before now, for which the requester has not gone
// back yet: it does, though what is missing may come meanwhile, and takes nothing from there on until it is retransmitted.
func (s *SendQueue) Skipped(psn packet.PSN, now, within int64) bool {
	return s.Recovery != nil && s.Recovery.Skips != 0 && !psn.Before(s.Recovery.SkipFrom) && now-s.Recovery.SkipAt < within
}
