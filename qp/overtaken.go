package qp

import "ibwitness/packet"

// Overtaken adds up requests that came after later ones without having been retransmitted, as far as can be told.
type Overtaken struct {
	Packets     uint32
	Numbered    uint32 // of them, those whose IPv4 identification shows that they left before what has overtaken them
	Asked       uint32 // how often the responder took one for lost, so that it was retransmitted all the same
	Depth       uint32 // PSNs from one to the newest that has overtaken it, at most
	First, Last int64  // when they came, nanoseconds since the Unix epoch
	Frame       uint64 // of the first, and of the newest one
	Newest      uint64
	Tap         uint16
}

// Overtaking is what has been overtaken in a send queue.
type Overtaking struct {
	Sum   Overtaken // what is certain
	Run   Overtaken // the newest packets in a row: if what came after the gap follows them once more, they were retransmitted
	After uint16    // IPv4 identification of what overtook them
}

// CountOvertaken notes that request p came after later ones, the newest of which had an IPv4 identification. numbered says that it left before that.
func (s *SendQueue) CountOvertaken(p *packet.Packet, after uint16, numbered bool) {
	t := s.trouble()
	if t.Overtaking == nil {
		t.Overtaking = new(Overtaking)
	}
	o := t.Overtaking
	r := &o.Run
	if !s.lastOvertaken() {
		o.Sum.add(r)
		*r, o.After = Overtaken{First: p.Time, Frame: p.Frame, Tap: p.Tap}, after
	}
	r.Packets++
	if numbered {
		r.Numbered++
	}
	r.Depth = max(r.Depth, uint32(s.High.Add(-1).Diff(p.PSN)))
	r.Last, r.Newest = p.Time, p.Frame
}

// OvertakenAfter returns the IPv4 identification of what overtook the newest request, where that was overtaken; else that of the newest request.
func (s *SendQueue) OvertakenAfter() uint16 {
	if s.lastOvertaken() {
		return s.Trouble().Overtaking.After
	}
	return s.Last.ID
}

// lastOvertaken reports whether the newest request was overtaken.
func (s *SendQueue) lastOvertaken() bool {
	r := s.Trouble().newestOvertaken()
	return r != nil && r.Newest == s.Last.Frame && r.Tap == s.Last.Tap
}

// IsOvertaken reports whether request p was noted so.
func (s *SendQueue) IsOvertaken(p *packet.Packet) bool {
	r := s.Trouble().newestOvertaken()
	return r != nil && r.Newest == p.Frame && r.Tap == p.Tap
}

// NotOvertaken takes back the newest requests that were overtaken, as far as only their time said so: what had come after them follows them once more. It reports whether there were such.
func (s *SendQueue) NotOvertaken() bool {
	if !s.lastOvertaken() || s.Trouble().Overtaking.Run.Numbered > 0 {
		return false
	}
	s.Trouble().Overtaking.Run = Overtaken{}
	return true
}

// AskedForOvertaken notes that the responder had a request retransmitted, which was overtaken if it is the newest that was.
func (s *SendQueue) AskedForOvertaken(psn packet.PSN, now, within int64) {
	if r := s.Trouble().newestOvertaken(); r != nil && now-r.Last <= within && s.Recovery != nil && s.Recovery.Late.PSN == psn {
		r.Asked++
	}
}

// newestOvertaken returns the newest packets that were overtaken; nil: none was.
func (t *Trouble) newestOvertaken() *Overtaken {
	if t == nil || t.Overtaking == nil || t.Overtaking.Run.Packets == 0 {
		return nil
	}
	return &t.Overtaking.Run
}

// Overtaken returns what of the requests was overtaken by others on its way to the tap.
func (t *Trouble) Overtaken() Overtaken {
	if t.Overtaking == nil {
		return Overtaken{}
	}
	o := t.Overtaking.Sum
	o.add(&t.Overtaking.Run)
	return o
}

// add adds what came later.
func (o *Overtaken) add(r *Overtaken) {
	if r.Packets == 0 {
		return
	}
	if o.Packets == 0 {
		*o = *r
		return
	}
	o.Packets += r.Packets
	o.Numbered += r.Numbered
	o.Asked += r.Asked
	o.Depth = max(o.Depth, r.Depth)
	o.Last = r.Last
	if r.Tap == o.Tap {
		o.Newest = r.Newest
	}
}
