package qp

import (
	"math"
	"slices"

	"ibwitness/packet"
)

// DueRetransmission is a retransmission that a NAK asks for, at time From at the earliest and, if the host of the requester is stopped, until To, or longer by as much
// as it may lag; 0: there is none.
type DueRetransmission struct {
	From, To int64
	PSN      packet.PSN // that the NAK asks for
	Again    bool       // the one before it in the list is of a NAK for the same PSN, right before this one
}

// RequireRetransmission notes that a NAK has the requester retransmit from psn on, and within which time.
func (s *SendQueue) RequireRetransmission(psn packet.PSN, from, to int64) {
	o := &s.Lost().Due
	copy(o[1:], o[:])
	o[0] = DueRetransmission{From: from, To: to, PSN: psn}
}

// RequireOnceMore notes the same of another NAK for the PSN that the newest asks for: a requester may go back for both.
func (s *SendQueue) RequireOnceMore(psn packet.PSN, from, to int64) {
	o := s.Lost().Due[1:]
	copy(o[1:], o)
	o[0] = DueRetransmission{From: from, To: to, PSN: psn, Again: true}
}

// Retransmitted notes that the requester has retransmitted from psn on: for the oldest NAK that may have asked for it, and for one of the implied NAKs. It has
// the responses to what is before psn.
func (s *SendQueue) Retransmitted(psn packet.PSN, now, lag int64) {
	r := s.Recovery
	if r == nil {
		return
	}
	r.ImpliedNAKs.Count -= min(r.ImpliedNAKs.Count, 1)
	if psn.After(r.ImpliedNAKs.From) {
		r.ImpliedNAKs.From = psn
	}
	o := &r.Due
	for _, again := range []bool{false, true} {
		for i := len(o) - 1; i >= 0; i-- {
			if o[i].Again == again && o[i].within(now, lag) {
				copy(o[i:], o[i+1:])
				o[len(o)-1] = DueRetransmission{}
				return
			}
		}
	}
}

// MayRetransmit reports whether a NAK may have the requester go back at a time: any, or one before the newest.
func (s *SendQueue) MayRetransmit(now, lag int64, newest bool) bool {
	if s.Recovery == nil {
		return false
	}
	o := s.Recovery.Due[:]
	if !newest {
		o = s.Recovery.beforeNewest()
	}
	return slices.ContainsFunc(o, func(r DueRetransmission) bool { return r.within(now, lag) })
}

// beforeNewest is what the NAKs before the newest ask for.
func (r *Recovery) beforeNewest() []DueRetransmission {
	o := r.Due[1:]
	for len(o) > 0 && o[0].Again && o[0].PSN == r.Due[0].PSN { // it came with the newest
		o = o[1:]
	}
	return o
}

// AskedFor reports whether a NAK has asked for psn, for which the requester may still go back at a time, whatever has answered psn since.
func (s *SendQueue) AskedFor(psn packet.PSN, now, lag int64) bool {
	return s.Recovery != nil && slices.ContainsFunc(s.Recovery.Due[:], func(r DueRetransmission) bool { return r.PSN == psn && r.within(now, lag) })
}

// within reports whether the requester may make it at a time, where its host may lag. One that does not goes back once for two NAKs of a PSN.
func (r DueRetransmission) within(now, lag int64) bool {
	return now >= r.From && now < r.To+lag && (lag > 0 || !r.Again)
}

// MustRetransmit reports whether a NAK before the newest asks for psn, and the requester has not gone back for it yet, however long ago that was where it has sent
// nothing since: soft-RoCE takes no response to later PSNs until it has retransmitted that one.
func (s *SendQueue) MustRetransmit(psn packet.PSN, now, lag int64) bool {
	return s.Recovery != nil && slices.ContainsFunc(s.Recovery.beforeNewest(), func(r DueRetransmission) bool {
		return r.PSN == psn && (r.within(now, lag) || s.Last.Time < r.From && r.From != 0)
	})
}

// implyNAK notes, at time now, that a response has overtaken the one at psn, at a tap near the requester: an implied NAK, for which it retransmits from there on.
func (s *SendQueue) implyNAK(psn packet.PSN, now int64) {
	r := s.Lost()
	if r.ImpliedNAKs.Count == 0 || psn.Before(r.ImpliedNAKs.From) {
		r.ImpliedNAKs.From = psn
	}
	r.ImpliedNAKs.At, r.ImpliedNAKs.Count = now, r.ImpliedNAKs.Count+min(1, math.MaxUint16-r.ImpliedNAKs.Count)
}

// ImplyNAKs notes that up to n responses came, before it was known that they are to these requests, to PSNs after the one that is answered at time
// now: each may have overtaken a response before it.
func (s *SendQueue) ImplyNAKs(psn packet.PSN, now int64, n uint64) {
	r := s.Lost()
	r.ImpliedNAKs.From, r.ImpliedNAKs.At, r.ImpliedNAKs.Count = psn, now, uint16(min(n, math.MaxUint16))
}

// ImpliedNAK reports whether a response has overtaken the one at psn, or one before it, within some time before now, for which the requester has not gone
// back yet: it does, though what is missing may come meanwhile, and takes nothing from there on until it is retransmitted.
func (s *SendQueue) ImpliedNAK(psn packet.PSN, now, within int64) bool {
	return s.Recovery != nil && s.Recovery.ImpliedNAKs.Count != 0 && !psn.Before(s.Recovery.ImpliedNAKs.From) && now-s.Recovery.ImpliedNAKs.At < within
}
