package qp

import (
	"ibwitness/packet"
	"ibwitness/wqe"
)

// Overtaken adds up packets that came after later ones without having been retransmitted, as far as can be told.
type Overtaken struct {
	Packets     uint32
	Numbered    uint32 // of them, those whose IPv4 identification shows that they left before what has overtaken them
	Asked       uint32 // how often one was taken for lost, so that it was retransmitted all the same
	Depth       uint32 // PSNs from one to the newest that has overtaken it, at most
	First, Last int64  // when they came, nanoseconds since the Unix epoch
	Frame       uint64 // of the first, and of the newest one
	Newest      uint64
	PSN         packet.PSN // of the first
	Tap         uint16
}

// Overtaking is what has been overtaken of the requests of a send queue, or of the responses to them.
type Overtaking struct {
	Sum   Overtaken // what is certain
	Run   Overtaken // the newest packets in a row: if what came after the gap follows them once more, they were retransmitted
	After uint16    // IPv4 identification of what overtook them
	Hole  struct {  // of responses, those which were missing last when a later one came: from a PSN on, before another
		From, To packet.PSN
	}
}

// count notes that packet p came depth PSNs after later ones, the newest of which had IPv4 identification after. numbered says that it left before that, goesOn that the
// packet before it was overtaken too.
func (o *Overtaking) count(p *packet.Packet, depth int, after uint16, numbered, goesOn bool) *Overtaken {
	r := &o.Run
	if !goesOn {
		o.Sum.add(r)
		*r, o.After = Overtaken{First: p.Time, Frame: p.Frame, PSN: p.PSN, Tap: p.Tap}, after
	}
	r.Packets++
	if numbered {
		r.Numbered++
	}
	r.Depth = max(r.Depth, uint32(depth))
	r.Last, r.Newest = p.Time, p.Frame
	return r
}

// newest returns the newest packets that were overtaken; nil: none was.
func (o *Overtaking) newest() *Overtaken {
	if o == nil || o.Run.Packets == 0 {
		return nil
	}
	return &o.Run
}

// isNewest reports whether the packet in a frame, of which low bits are known, is the newest that was overtaken.
func (o *Overtaking) isNewest(frame uint32, tap uint8) bool {
	r := o.newest()
	return r != nil && uint32(r.Newest) == frame && uint8(r.Tap) == tap
}

// TakeBack takes back the newest packets that were overtaken, as far as only their time said so. It reports whether there were such.
func (o *Overtaking) TakeBack() bool {
	if o.Run.Numbered > 0 {
		return false
	}
	o.Run = Overtaken{}
	return true
}

// Newest returns the PSN of what overtook the newest packets.
func (o *Overtaking) Newest() packet.PSN { return o.Run.PSN.Add(int(o.Run.Depth)) }

// All returns what was overtaken by others on its way to the tap; o may be nil.
func (o *Overtaking) All() Overtaken {
	if o == nil {
		return Overtaken{}
	}
	sum := o.Sum
	sum.add(&o.Run)
	return sum
}

// requests returns what was overtaken of the requests; nil: nothing.
func (t *Trouble) requests() *Overtaking {
	if t == nil {
		return nil
	}
	return t.Overtaking
}

// responses returns what was overtaken of the responses; nil: nothing.
func (t *Trouble) responses() *Overtaking {
	if t == nil {
		return nil
	}
	return t.Responses
}

// CountOvertaken notes that request p came after later ones, the newest of which had IPv4 identification after. numbered says that it left before that.
func (s *SendQueue) CountOvertaken(p *packet.Packet, after uint16, numbered bool) {
	t := s.trouble()
	if t.Overtaking == nil {
		t.Overtaking = new(Overtaking)
	}
	t.Overtaking.count(p, s.High.Add(-1).Diff(p.PSN), after, numbered, s.lastOvertaken())
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
	return s.Trouble().requests().isNewest(uint32(s.Last.Frame), uint8(s.Last.Tap))
}

// LastLeftBefore reports whether the newest request left before what has overtaken it.
func (s *SendQueue) LastLeftBefore() bool {
	return s.lastOvertaken() && s.Trouble().Overtaking.Run.Numbered > 0
}

// IsOvertaken reports whether request p was noted so.
func (s *SendQueue) IsOvertaken(p *packet.Packet) bool {
	return s.Trouble().requests().isNewest(uint32(p.Frame), uint8(p.Tap))
}

// NotOvertaken takes back the newest requests that were overtaken, as far as only their time said so: what had come after them follows them once more. It reports whether there were such.
func (s *SendQueue) NotOvertaken() bool {
	return s.lastOvertaken() && s.Trouble().Overtaking.TakeBack()
}

// AskedForOvertaken notes that the responder had a request retransmitted, which was overtaken if it is the newest that was.
func (s *SendQueue) AskedForOvertaken(psn packet.PSN, now, within int64) {
	if r := s.Trouble().requests().newest(); r != nil && now-r.Last <= within && s.Recovery != nil && s.Recovery.Late.PSN == psn && psn.In(r.PSN, r.PSN.Add(int(r.Depth))) {
		r.Asked++
	}
}

// OvertakenResponses returns what was overtaken of the responses, where the newest of them, which is last, was; nil: it was not.
func (s *SendQueue) OvertakenResponses(last *LastResponse) *Overtaking {
	if o := s.Trouble().responses(); o.isNewest(last.Frame, last.Tap) {
		return o
	}
	return nil
}

// NoteHole notes that the responses to a READ from one PSN on, and before another, have not come when that came.
func (s *SendQueue) NoteHole(from, to packet.PSN) {
	o := s.trouble().countsResponses()
	o.Hole.From, o.Hole.To = from, to
}

// InHole reports whether the response with a PSN had not come then, of those that were noted last.
func (s *SendQueue) InHole(psn packet.PSN) bool {
	o := s.Trouble().responses()
	return o != nil && o.Hole.From != o.Hole.To && psn.In(o.Hole.From, o.Hole.To.Add(-1))
}

// CountOvertakenResponse notes that response p to a READ came after later ones, the newest of which had a PSN and IPv4 identification after. numbered says that p left before
// that, goesOn that the response before it was overtaken too, asked that the requester has asked for it once more.
func (s *SendQueue) CountOvertakenResponse(p *packet.Packet, newest packet.PSN, after uint16, numbered, goesOn, asked bool) {
	depth := newest.Diff(p.PSN)
	if numbered {
		depth = min(depth, int(after-p.IPID)) // a READ that is retransmitted goes back by more PSNs than came before p
	}
	if r := s.trouble().countsResponses().count(p, depth, after, numbered, goesOn); asked {
		r.Asked = 1
	}
}

// AskedForOvertakenResponse notes that the requester retransmits READ w from a PSN, since a response came before one that it needs.
func (s *SendQueue) AskedForOvertakenResponse(psn packet.PSN, w *wqe.SendWQE, now, within int64) {
	if r := s.Trouble().responses().newest(); r != nil && now-r.Last <= within && r.PSN.In(psn, w.Last) {
		r.Asked = 1
	}
}

// countsResponses returns what was overtaken of the responses, to be written.
func (t *Trouble) countsResponses() *Overtaking {
	if t.Responses == nil {
		t.Responses = new(Overtaking)
	}
	return t.Responses
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
