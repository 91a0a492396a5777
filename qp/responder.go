package qp

import "ibwitness/packet"

// Join has the responder expect a PSN, of a stream that was joined in mid-stream.
func (r *ReceiveQueue) Join(psn packet.PSN) {
	*r = ReceiveQueue{EPSN: psn, ReceiveSeldom: nothingReceived}
}

// Certain reports whether nothing is open about the responses of a responder that expects the next request.
func (r *ReceiveQueue) Certain() bool {
	return r.State == Expecting && !r.DuplicateRequest && r.Pending == nil && r.Unseen == 0 && r.NAK.RNRs == 0 && r.MSN.Degree == MSNKnown && r.Baseline == nil
}

// Expect takes psn for the one that the next request must carry.
func (r *ReceiveQueue) Expect(psn packet.PSN) { r.EPSN = psn }

// ExpectFrom is Expect where that is later.
func (r *ReceiveQueue) ExpectFrom(psn packet.PSN) { r.EPSN = packet.Later(r.EPSN, psn) }

// MoveEPSN notes that the READ before the expected PSN ends at another one than it was taken for.
func (r *ReceiveQueue) MoveEPSN(was, now packet.PSN) { move(&r.EPSN, was, now) }

// MoveDuplicateTo notes the same of the newest duplicate.
func (r *ReceiveQueue) MoveDuplicateTo(was, now packet.PSN) {
	if r.DuplicateTo == was && was != now {
		r.seldom().DuplicateTo = now
	}
}

// LoneResponse is what is kept of the responses of a direction while the requests that they answer are not known.
type LoneResponse struct {
	NAKTime int64      // of the newest that was no positive one
	PSN     packet.PSN // of the newest positive one, or before which the newest refused
	Seen    bool       // PSN is set
	Newest  packet.Syndrome
}

// Lone is what the responses of the direction have shown while the requests that they answer are not known.
func (d *Direction) Lone() LoneResponse { return d.SQ.sender.lone }

// SetLone sets it.
func (d *Direction) SetLone(l LoneResponse) {
	if l != d.SQ.sender.lone {
		d.sender().lone = l
	}
}

// NoteLone notes response p of a responder whose requester is not known yet.
func (d *Direction) NoteLone(p *packet.Packet) {
	l := &d.sender().lone
	l.Seen, l.PSN, l.Newest = true, p.PSN, p.Syndrome
	if p.Syndrome.Type() != packet.ACK {
		l.PSN, l.NAKTime = p.PSN.Add(-1), p.Time
	}
}

// TakeNAK notes NAK p, after which the responder is in state nak. What its requester did after the one before it counts no more.
func (r *ReceiveQueue) TakeNAK(nak Responder, p *packet.Packet) {
	if Strict && (nak == Expecting || p.Syndrome.Type() == packet.ACK) {
		panic("qp: TakeNAK " + nak.String() + " of a responder " + r.State.String())
	}
	s := r.seldom()
	s.NAK.take(p)
	s.State, r.MSN.StartKnown = nak, true
}

// CloseNAK notes that the responder expects requests again: what it asked for came, or it goes on without.
func (r *ReceiveQueue) CloseNAK() {
	if r.State != Expecting {
		r.seldom().State = Expecting
	}
}

// NoteDuplicate notes that a duplicate arrived, and that requests up to a PSN had been sent.
func (r *ReceiveQueue) NoteDuplicate(to packet.PSN) {
	s := r.seldom()
	s.DuplicateRequest, s.DuplicateTo = true, to
}

// Duplicate is a duplicate SEND or WRITE that asks for a response.
type Duplicate struct {
	Time   int64 // zero: none has come
	Frame  uint64
	PSN    packet.PSN
	Opcode packet.Opcode
	Tap    uint16
	Told   bool // that it was left without a response
}

// OweDuplicate notes a duplicate that asks for a response.
func (r *ReceiveQueue) OweDuplicate(p *packet.Packet) {
	r.seldom().Duplicate = Duplicate{Time: p.Time, Frame: p.Frame, PSN: p.PSN, Opcode: p.Opcode, Tap: p.Tap}
}

// TellDuplicate notes that it was told that the duplicate was left without a response.
func (r *ReceiveQueue) TellDuplicate() { r.seldom().Duplicate.Told = true }

// RespondDuplicate forgets the duplicate: a response has come after it.
func (r *ReceiveQueue) RespondDuplicate() { r.seldom().Duplicate = Duplicate{} }

// MayBeDuplicate notes that a request may have been taken for a duplicate.
func (r *ReceiveQueue) MayBeDuplicate() { r.seldom().DuplicateRequest = true }

// CloseDuplicate notes that the duplicates have been answered.
func (r *ReceiveQueue) CloseDuplicate() {
	if r.DuplicateRequest {
		r.seldom().DuplicateRequest = false
	}
}

// CountUnseen counts a response to a request that was never seen, and returns how many there were in a row.
func (r *ReceiveQueue) CountUnseen() uint8 {
	s := r.seldom()
	s.Unseen++
	return s.Unseen
}

// CloseUnseen begins that count again.
func (r *ReceiveQueue) CloseUnseen() {
	if r.Unseen != 0 {
		r.seldom().Unseen = 0
	}
}

// AwaitResponse notes what was left unsaid until the requester's timer ran out.
func (r *ReceiveQueue) AwaitResponse(d PendingResponse) { r.seldom().Pending = &d }

// ClosePending forgets it.
func (r *ReceiveQueue) ClosePending() {
	if r.Pending != nil {
		r.seldom().Pending = nil
	}
}

// NoteAnswer notes the first response after the request that demands it was retransmitted.
func (d *PendingResponse) NoteAnswer(p *packet.Packet) {
	d.AnsweredAt, d.AnsweredBy, d.Answers = p.Time, p.Frame, 1
}

// CountAnswer counts one more, and reports whether there are more than were asked for.
func (d *PendingResponse) CountAnswer() bool {
	d.Answers++
	return d.Answers > d.Requests
}

// CountRequest counts a request that was retransmitted.
func (d *PendingResponse) CountRequest() { d.Requests++ }
