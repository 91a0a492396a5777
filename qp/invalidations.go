package qp

import "ibwitness/packet"

// keptInvalidations is how many of the newest SENDs with Invalidate are kept, as requests that complete one after the other need.
const keptInvalidations = 32

// invalidations is a ring of the newest SENDs with Invalidate of a send queue.
type invalidations struct {
	ring [keptInvalidations]invalidation
	n    uint32 // how many there were, modulo 2^32
}

// invalidation is a SEND with Invalidate: the R_Key, and the packet that named it.
type invalidation struct {
	Invalidation
	rkey uint32
	psn  packet.PSN
	tap  uint16
}

// Invalidation is when a SEND with Invalidate named an R_Key, nanoseconds since the Unix epoch, and in which frame.
type Invalidation struct {
	Time  int64
	Frame uint64
}

// noteInvalidation keeps packet p, which ends a SEND with Invalidate.
func (s *SendQueue) noteInvalidation(p *packet.Packet) {
	if s.invalidations == nil {
		s.seldom().invalidations = new(invalidations)
	}
	k := s.invalidations
	k.ring[k.n%keptInvalidations] = invalidation{Invalidation{p.Time, p.Frame}, p.InvRKey, p.PSN, p.Tap}
	k.n++
}

// invalidated returns the newest SEND with Invalidate of the queue that named an R_Key before PSN, at a tap; nil: none is kept.
func (s *SendQueue) invalidated(rkey uint32, before packet.PSN, tap uint16) *Invalidation {
	k := s.invalidations
	if k == nil {
		return nil
	}
	for n := uint32(1); n <= min(k.n, keptInvalidations); n++ {
		if x := &k.ring[(k.n-n)%keptInvalidations]; x.rkey == rkey && x.tap == tap && x.psn.Before(before) {
			found := x.Invalidation
			return &found
		}
	}
	return nil
}
