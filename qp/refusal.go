package qp

import (
	"slices"

	"ibwitness/packet"
	"ibwitness/wqe"
)

// Refusal is a NAK that ends the connection.
type Refusal struct {
	Code        packet.Syndrome
	Tap         uint16
	Plain       bool  // of a NAK Invalid Request: it refuses a SEND all packets of which were seen, and which invalidates no R_Key
	Time        int64 // 0: there was none
	Frame       uint64
	Request     StalledRequest
	Invalidated *Invalidation // the SEND with Invalidate of its requester that had named its R_Key before, of a NAK Remote Access Error; nil: none is known
	Beside      Beside        // of a NAK Remote Access Error, without SameOp and AtOnce; these only of a NAK Invalid Request
	SentAfter   *SentAfter    // nil: nothing was
}

// SentAfter is the requests that had been sent after a refused one when the NAK came: the responder takes none of them.
type SentAfter struct {
	Count       uint32
	Op          wqe.Op // of the first
	Invalidates bool   // it is a SEND with Invalidate
	InvRKey     uint32 // that it names then
	PSN         packet.PSN
	Frame       uint64
}

// Beside is what the requests say of a refused one that are kept when the NAK comes: those before it were accepted.
type Beside struct {
	SameKey   [numRights]AcceptedRange // of those with its R_Key, by the right that they need
	Covering  KeyAt                    // the newest accepted with its R_Key of which it needs no byte more
	Earlier   *EarlierRange            // with its R_Key and for its right, by the queue pair that accepted the newest, perhaps of an earlier connection; nil: none is known
	Elsewhere KeyAt                    // the newest accepted with another R_Key of which it needs no byte more
	Other     KeyAt                    // the newest accepted with another R_Key
	Next      KeyAt                    // the first after it of the same address, with another R_Key
	SameOp    KeyAt                    // the newest accepted of its operation
	OwnKeys   uint32                   // how many of its queue pair were accepted, as far as it is known, each with an R_Key of its own; 0: some have the same
	AtOnce    uint32                   // READs and atomics, it among them, that were not answered when it was sent
	HadRight  uint64                   // frame of the newest message for which its queue pair needed the right that it needs, with any R_Key, that was accepted; 0: none is known
}

// KeyAt is a request and its R_Key.
type KeyAt struct {
	RKey  uint32
	Op    wqe.Op
	Frame uint64 // in which it begins; 0: there is none
}

// AcceptedRange is which bytes accepted requests named, from the first to the last: a region is all that is between.
type AcceptedRange struct {
	Low, High     uint64 // first byte, and the one after the last
	LowAt, HighAt uint64 // frames of the requests that named them
	Newest        uint64 // frame of the newest of all; 0: there is none
}

// EarlierRange is such a range of any connection: of the same hosts, or of others whose addresses have the same bucket.
type EarlierRange struct {
	AcceptedRange
	QPN uint32 // of the queue pair that accepted the requests
}

// Covers reports whether the range holds the bytes from low to the one before high.
func (r *AcceptedRange) Covers(low, high uint64) bool {
	return r.Newest != 0 && r.Low <= low && high <= r.High
}

// Refuse notes NAK p, which ends the connection, and the request that it refuses, which w is; nil: it is not known. a is what was accepted
// before what is kept, and by the responder whose queue pair is number by.
func (s *SendQueue) Refuse(c *Pair, p *packet.Packet, w *wqe.SendWQE, by uint32, a *Accepted) {
	t := s.trouble()
	if t.Refusal.Time != 0 {
		return
	}
	t.Refusal = Refusal{Code: p.Syndrome, Time: p.Time, Tap: p.Tap, Frame: p.Frame, Request: s.request(p, p.PSN, w)}
	if r := &t.Refusal.Request; p.Syndrome == packet.NAKInvalidRequest && w != nil {
		r.Answered = s.mostAnswered(r, r.First) // the NAK acknowledges what is before
	}
	t.Refusal.SentAfter = s.sentAfter(p, w)
	if w != nil && p.Syndrome == packet.NAKInvalidRequest && w.Op == wqe.Send && w.Has(wqe.Whole) {
		_, invalidates := s.invalidatesIn(w, p.Tap)
		t.Refusal.Plain = !invalidates
	}
	switch {
	case w == nil:
	case w.RKey != 0 && p.Syndrome == packet.NAKRemoteAccess:
		t.Refusal.Beside = s.beside(c, p, w, by, a)
		t.Refusal.Invalidated = s.invalidated(w.RKey, w.First, p.Tap)
	case p.Syndrome == packet.NAKInvalidRequest && (w.Op.Responded() || w.Op == wqe.Write):
		t.Refusal.Beside = s.before(p, w)
	}
}

// sentAfter looks through the requests that came after request w, which NAK p refuses; nil: it is not known.
func (s *SendQueue) sentAfter(p *packet.Packet, w *wqe.SendWQE) (b *SentAfter) {
	for i := range s.Messages.Len() {
		m := s.Messages.At(i)
		if w == nil || !w.First.Before(m.First) {
			continue
		}
		if b == nil {
			b = &SentAfter{Op: m.Op, PSN: m.First, Frame: packet.FrameNear(p.Frame, m.Frame)}
			b.InvRKey, b.Invalidates = s.invalidatesIn(m, p.Tap)
		}
		b.Count++
	}
	return b
}

// invalidatesIn returns the R_Key that message m names, where it ends as a SEND with Invalidate that is kept.
func (s *SendQueue) invalidatesIn(m *wqe.SendWQE, tap uint16) (rkey uint32, is bool) {
	k := s.invalidations
	if k == nil || m.Op != wqe.Send {
		return 0, false
	}
	kept := k.ring[:min(k.n, keptInvalidations)]
	n := slices.IndexFunc(kept, func(x invalidation) bool { return x.psn == m.Last && x.tap == tap })
	if n < 0 {
		return 0, false
	}
	return kept[n].rkey, true
}

// beside looks through the requests that are kept for what they say of request w, which NAK p refuses.
func (s *SendQueue) beside(c *Pair, p *packet.Packet, w *wqe.SendWQE, by uint32, a *Accepted) (b Beside) {
	before := a.rangesOf(&s.Messages, c, by, p)
	b.SameKey = before[w.RKey]
	b.Earlier = a.newestWith(c, w, p)
	own, several, newest := uint32(len(before)), false, uint32(0)
	for _, ranges := range before {
		b.HadRight = max(b.HadRight, ranges[RightOf(w.Op)].Newest)
		several = several || shared(&ranges)
	}
	for i := range s.Messages.Len() {
		m := s.Messages.At(i)
		if m == w || m.RKey == 0 || !m.Has(wqe.Whole) {
			continue
		}
		at := KeyAt{m.RKey, m.Op, packet.FrameNear(p.Frame, m.Frame)}
		switch {
		case m.First.After(w.First):
			if b.Next.Frame == 0 && m.VA == w.VA && m.RKey != w.RKey {
				b.Next = at
			}
		case m.Has(wqe.Ended) && (m.Has(wqe.Answered) || !m.Op.Responded()):
			_, again := before[m.RKey]
			several = several || m.RKey == w.RKey || m.RKey == newest || again
			newest = m.RKey
			own++
			b.accepted(m, w, at)
		}
	}
	if !several {
		b.OwnKeys = own
	}
	return b
}

// shared reports whether ranges of an R_Key are of more than one message.
func shared(ranges *[numRights]AcceptedRange) bool {
	n := 0
	for i := range ranges {
		if x := &ranges[i]; x.Newest != 0 {
			n++
			if x.LowAt != x.Newest || x.HighAt != x.Newest {
				n++
			}
		}
	}
	return n > 1
}

// before looks through the READs, atomics and WRITEs that are kept for what they say of one of them, w, which NAK p refuses.
func (s *SendQueue) before(p *packet.Packet, w *wqe.SendWQE) (b Beside) {
	b.AtOnce = 1
	sent := packet.FrameNear(p.Frame, w.Frame)
	for i := range s.Messages.Len() {
		m := s.Messages.At(i)
		if !m.First.Before(w.First) {
			continue
		}
		if m.Op == wqe.Write && w.Op == wqe.Write && m.Has(wqe.Ended) {
			b.SameOp = KeyAt{m.RKey, m.Op, packet.FrameNear(p.Frame, m.Frame)}
		}
		if !m.Op.Responded() {
			continue
		}
		if !m.Has(wqe.Answered) || packet.FrameNear(p.Frame, m.RespFrame) > sent {
			b.AtOnce++
		}
		if m.Op == w.Op && m.Has(wqe.Answered) {
			b.SameOp = KeyAt{m.RKey, m.Op, packet.FrameNear(p.Frame, m.Frame)}
		}
	}
	return b
}

// accepted notes request m, which was accepted before request w was refused.
func (b *Beside) accepted(m, w *wqe.SendWQE, at KeyAt) {
	low, high := extent(m)
	if low == high {
		return // whoever needs no byte is asked for no R_Key
	}
	from, to := extent(w)
	covers := low <= from && to <= high
	if m.RKey != w.RKey {
		if b.Other = at; covers {
			b.Elsewhere = at
		}
		return
	}
	b.SameKey[RightOf(m.Op)].join(AcceptedRange{low, high, at.Frame, at.Frame, at.Frame})
	if covers {
		b.Covering = at
	}
}

// join adds what later requests named.
func (r *AcceptedRange) join(x AcceptedRange) {
	if r.Newest == 0 {
		*r = x
		return
	}
	if x.Low < r.Low {
		r.Low, r.LowAt = x.Low, x.LowAt
	}
	if x.High > r.High {
		r.High, r.HighAt = x.High, x.HighAt
	}
	r.Newest = x.Newest
}

// extent is which bytes a request names: the first, and the one after the last.
func extent(w *wqe.SendWQE) (low, high uint64) {
	n := uint64(w.Length)
	if w.Op.Atomic() || w.Op == wqe.AtomicWrite {
		n = 8
	}
	return w.VA, w.VA + n
}
