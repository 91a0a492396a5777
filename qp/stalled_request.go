package qp

import (
	"ibwitness/packet"
	"ibwitness/wqe"
)

// StalledRequest is a request that waits for its response.
type StalledRequest struct {
	Op      wqe.Op
	Begun   bool       // of a SEND: not all of it was seen, so that it is longer than Length
	Tail    bool       // a SEND or WRITE of which the capture has shown nothing before this packet: what is before it was lost before the tap
	Copied  bool       // a round that began with another request had retransmitted that packet before
	PSN     packet.PSN // of the packet that was retransmitted first
	First   packet.PSN // of its message
	VA      uint64     // of a READ, WRITE or atomic, where its first packet was seen
	RKey    uint32
	Length  uint32 // bytes: DMALen, of a SEND what was seen
	Payload uint32 // bytes of payload of the packet that was retransmitted first
	// Answered is the most bytes of payload of a packet that was answered before, of those that are kept: of a READ, of a response to one. 0: none is kept.
	Answered uint32
	Frame    uint64 // in which the message begins; 0: not known
}

// request describes the request at psn, of message w, which p is or answers.
func (s *SendQueue) request(p *packet.Packet, psn packet.PSN, w *wqe.SendWQE) StalledRequest {
	r := StalledRequest{PSN: psn, First: psn}
	if p.Info().Request {
		r.Op, r.Payload = wqe.OpOf(p.Opcode.Fn()), uint32(p.PayloadLen)
		if p.Has&packet.HasRETH != 0 {
			r.VA, r.RKey, r.Length = p.VA, p.RKey, p.DMALen
		}
	} else if h := s.History().Get(psn); h != nil {
		r.Payload = uint32(h.Trace.Len)
	}
	if w != nil {
		r.Op, r.First, r.VA, r.RKey, r.Length = w.Op, w.First, w.VA, w.RKey, w.Length
		if r.Frame = packet.FrameNear(p.Frame, w.Frame); r.Frame == p.Frame && p.Info().Request {
			r.Frame = 0 // it was retransmitted: where it was sent first is not shown
		}
		in := p.Info()
		r.Tail = (w.Op == wqe.Send || w.Op == wqe.Write) && !w.Has(wqe.Whole) && w.First == psn && in.Request && (in.Middle || in.Last)
		if w.Op == wqe.Send {
			r.Length, r.Begun = w.Got(), !w.Has(wqe.Whole) || !w.Has(wqe.Ended)
		}
	}
	return r
}

// mostAnswered is the most bytes of payload that a packet had which was answered before a request, of those that are kept, or of a READ the most that was answered. What is before PSN until has been.
func (s *SendQueue) mostAnswered(r *StalledRequest, until packet.PSN) (most uint32) {
	if r.Op == wqe.Read {
		for i := range s.Messages.Len() {
			if w := s.Messages.At(i); w.Op == wqe.Read && w.Has(wqe.Answered) && w.First.Before(r.First) {
				most = max(most, w.Length)
			}
		}
		return most
	}
	h := s.History()
	for i := range h.packets.places() {
		if k := h.slot(packet.PSN(i)); k.used() && k.psn(i).Before(until) && k.psn(i).Before(r.First) {
			most = max(most, uint32(k.length&sentLength)) // with pad
		}
	}
	return most
}

// LeastAfterStalled is the least bytes of payload, with pad, of a request packet that was sent after the one of the newest stall, of those that are kept. ok
// reports whether there is any.
func (s *SendQueue) LeastAfterStalled() (least uint32, ok bool) {
	if !s.Stalled() {
		return 0, false
	}
	r, h := &s.sender.trouble.Now.Request, s.History()
	for i := range h.packets.places() {
		if k := h.slot(packet.PSN(i)); k.used() && k.psn(i).After(r.PSN) && k.psn(i).Before(s.High) {
			if n := uint32(k.length & sentLength); !ok || n < least {
				least, ok = n, true
			}
		}
	}
	return least, ok
}
