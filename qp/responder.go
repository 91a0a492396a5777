package qp

import "ibwitness/packet"

// Join has the responder expect a PSN, of a stream that was joined in mid-stream.
func (r *ReceiveQueue) Join(psn packet.PSN) { *r = ReceiveQueue{EPSN: psn} }

// Certain reports whether nothing is open about the responses of a responder that expects the next request.
func (r *ReceiveQueue) Certain() bool {
	return r.State == Expecting && !r.DuplicateRequest && r.Pending == nil && r.Unseen == 0 && r.RNRs == 0 && r.MSN == MSNKnown && r.Baseline == nil
}

// Expect takes psn for the one that the next request must carry.
func (r *ReceiveQueue) Expect(psn packet.PSN) { r.EPSN = psn }

// ExpectFrom is Expect where that is later.
func (r *ReceiveQueue) ExpectFrom(psn packet.PSN) { r.EPSN = packet.Later(r.EPSN, psn) }

// MoveEPSN notes that the READ before the expected PSN ends at another one than it was taken for.
func (r *ReceiveQueue) MoveEPSN(was, now packet.PSN) { move(&r.EPSN, was, now) }

// MoveDuplicateTo notes the same of the newest duplicate.
func (r *ReceiveQueue) MoveDuplicateTo(was, now packet.PSN) { move(&r.DuplicateTo, was, now) }

// Came notes that p is the newest response.
func (r *ReceiveQueue) Came(p *packet.Packet) {
	r.LastID, r.LastICRC, r.LastFrame, r.LastTime = p.IPID, p.ICRC, uint32(p.Frame), p.Time
}

// Numbered takes id for the IPv4 identification of the newest response.
func (r *ReceiveQueue) Numbered(id uint16) { r.LastID = id }

// NoteResponse notes response p of a responder whose requester is not known yet.
func (r *ReceiveQueue) NoteResponse(p *packet.Packet) {
	r.ResponseSeen, r.LastPSN = true, p.PSN
	if p.Syndrome.Type() != packet.ACK {
		r.LastPSN, r.NakTime = p.PSN.Add(-1), p.Time
	}
}

// Answer notes that the newest positive response has a PSN.
func (r *ReceiveQueue) Answer(psn packet.PSN) { r.LastPSN, r.Answered = psn, true }

// TakeNAK notes NAK p, after which the responder is in state nak. What its requester did after the one before it counts no more.
func (r *ReceiveQueue) TakeNAK(nak Responder, p *packet.Packet) {
	if Strict && (nak == Expecting || p.Syndrome.Type() == packet.ACK) {
		panic("qp: TakeNAK " + nak.String() + " of a responder " + r.State.String())
	}
	r.State, r.NakPSN, r.NakCode, r.NakFrame, r.NakTime, r.NakID = nak, p.PSN, p.Syndrome, uint32(p.Frame), p.Time, p.IPID
	r.Timed, r.Blamed, r.NAKUnprocessed, r.StartKnown = false, false, false, true
}

// CloseNAK notes that the responder expects requests again: what it asked for came, or it goes on without.
func (r *ReceiveQueue) CloseNAK() { r.State = Expecting }

// Blame notes that what a requester does after this NAK was reported, or is the same fault.
func (r *ReceiveQueue) Blame() { r.Blamed = true }

// LeaveNAKUnprocessed notes that the requester may not take this RNR NAK.
func (r *ReceiveQueue) LeaveNAKUnprocessed() { r.NAKUnprocessed = true }

// CountRNR notes how many RNR NAKs there were in a row for one PSN.
func (r *ReceiveQueue) CountRNR(n uint8) { r.RNRs = n }

// Measure notes that a request was retransmitted since the NAK.
func (r *ReceiveQueue) Measure() { r.Timed = true }

// Silence notes that a response after a fatal NAK was reported.
func (r *ReceiveQueue) Silence() { r.Silenced = true }

// SetStartKnown notes whether what arrived before the capture is known.
func (r *ReceiveQueue) SetStartKnown(known bool) { r.StartKnown = known }

// NoteDuplicate notes that a duplicate arrived, and that requests up to a PSN had been sent.
func (r *ReceiveQueue) NoteDuplicate(to packet.PSN) { r.DuplicateRequest, r.DuplicateTo = true, to }

// MayBeDuplicate notes that a request may have been taken for a duplicate.
func (r *ReceiveQueue) MayBeDuplicate() { r.DuplicateRequest = true }

// CloseDuplicate notes that the duplicates have been answered.
func (r *ReceiveQueue) CloseDuplicate() { r.DuplicateRequest = false }

// CountUnseen counts a response to a request that was never seen, and returns how many there were in a row.
func (r *ReceiveQueue) CountUnseen() uint8 {
	r.Unseen++
	return r.Unseen
}

// CloseUnseen begins that count again.
func (r *ReceiveQueue) CloseUnseen() { r.Unseen = 0 }

// AwaitResponse notes what was left unsaid until the requester's timer ran out.
func (r *ReceiveQueue) AwaitResponse(d PendingResponse) { r.Pending = &d }

// ClosePending forgets it.
func (r *ReceiveQueue) ClosePending() { r.Pending = nil }

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

// LoseMSN notes that how many messages the responder has counted is not known.
func (r *ReceiveQueue) LoseMSN() { r.MSN = MSNUnknown }

// CloseMSN is LoseMSN, where the next response sets the baseline again.
func (r *ReceiveQueue) CloseMSN() { r.MSN, r.Baseline = MSNUnknown, nil }

// BeginEpoch notes that messages are counted again from one: none that was counted before tells.
func (r *ReceiveQueue) BeginEpoch(epoch uint8) {
	r.CloseMSN()
	r.Epoch = epoch
}

// ShowMSN notes the MSN of the newest response.
func (r *ReceiveQueue) ShowMSN(msn uint32) { r.LastMSN = msn }

// CountFrom notes how many messages the responder had counted before the first of the send queue, by the MSN of a response.
func (r *ReceiveQueue) CountFrom(base, msn uint32) { r.MSNBase, r.LastMSN = base, msn }

// GuessMSN notes that this is to be confirmed by another response than p.
func (r *ReceiveQueue) GuessMSN(p *packet.Packet) { r.MSN, r.Baseline = MSNGuessed, p }

// KnowMSN notes that it is certain.
func (r *ReceiveQueue) KnowMSN() { r.MSN = MSNKnown }

// CloseBaseline forgets the response that another was to confirm.
func (r *ReceiveQueue) CloseBaseline() { r.Baseline = nil }

// FirstShown notes the MSN of the first response; one that was noted stays.
func (s *SendQueue) FirstShown(msn uint32) {
	if s.FirstMSN == 0 {
		s.FirstMSN = msn | MSNFromEarlier
	}
}

// FirstCounts notes that the first response counts from the first message seen.
func (s *SendQueue) FirstCounts(msn uint32) { s.FirstMSN = msn }
