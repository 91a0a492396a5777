package qp

import "ibwitness/packet"

// MSN is how a responder counts messages.
type MSN struct {
	Base       uint32 // MSN before the first message counted in SendQueue.Count, by MSNKnown
	Last       uint32 // MSN of the newest response
	Epoch      uint8  // of the messages that Base counts
	Degree     MSNDegree
	Witnessed  bool // events that were handed over as they happened show that the connection began with the first message counted
	StartKnown bool // what arrived before the capture began is known: the start PSN, MSNs that go on with the requests seen, or a NAK tell
}

// MSNDegree says how well the message sequence number of a responder is known.
type MSNDegree uint8

// The degrees.
const (
	MSNUnknown MSNDegree = iota
	MSNGuessed           // from a response while later messages were in flight
	MSNKnown             // from CM, or from a response to the newest message
)

// Lose notes that how many messages the responder has counted is not known.
func (m *MSN) Lose() { m.Degree = MSNUnknown }

// Know notes that it is certain.
func (m *MSN) Know() { m.Degree = MSNKnown }

// Show notes the MSN of the newest response.
func (m *MSN) Show(msn uint32) { m.Last = msn }

// CountFrom notes how many messages the responder had counted before the first of the send queue, by the MSN of a response.
func (m *MSN) CountFrom(base, msn uint32) { m.Base, m.Last = base, msn }

// Begin notes that the responder counts the messages of the send queue from the first on, as its events witness.
func (m *MSN) Begin() { *m = MSN{Degree: MSNKnown, Witnessed: true, StartKnown: true, Epoch: m.Epoch} }

// SetStartKnown notes whether what arrived before the capture is known.
func (m *MSN) SetStartKnown(known bool) { m.StartKnown = known }

// CloseMSN notes that how many messages the responder has counted is not known, and that the next response sets the baseline again.
func (r *ReceiveQueue) CloseMSN() {
	r.MSN.Lose()
	r.CloseBaseline()
}

// BeginEpoch notes that messages are counted again from one: none that was counted before tells.
func (r *ReceiveQueue) BeginEpoch(epoch uint8) {
	r.CloseMSN()
	r.MSN.Epoch = epoch
}

// GuessMSN notes that the count of messages is to be confirmed by another response than p.
func (r *ReceiveQueue) GuessMSN(p *packet.Packet) { r.MSN.Degree, r.seldom().Baseline = MSNGuessed, p }

// CloseBaseline forgets the response that another was to confirm.
func (r *ReceiveQueue) CloseBaseline() {
	if r.Baseline == nil {
		return
	}
	if r.seldom().Baseline = nil; *r.ReceiveSeldom == (ReceiveSeldom{}) {
		r.ReceiveSeldom = nothingReceived // most that were joined in mid-stream had one
	}
}

// FirstShown notes the MSN of the first response; one that was noted stays.
func (s *SendQueue) FirstShown(msn uint32) {
	if s.FirstMSN == 0 {
		s.FirstMSN = msn | MSNFromEarlier
	}
}

// FirstCounts notes that the first response counts from the first message seen.
func (s *SendQueue) FirstCounts(msn uint32) { s.FirstMSN = msn }
