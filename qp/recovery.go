package qp

import (
	"slices"

	"ibwitness/packet"
)

// Recovery is what is kept beside the usual of a send queue once something of it was lost: a packet, or a response to it.
type Recovery struct {
	// What was retransmitted or came out of order.
	Retransmitted Sighting // the newest request that was retransmitted; its PSN is High then: those before it may have reached the responder more than once
	Late          Sighting // request that last filled a gap: it came after a later one
	Reordered     Mark     // High when requests last came in another order than that of their PSNs
	Spray         Spray
	ExpectedPSNs  []packet.PSN // the newest PSNs that were expected when later ones came, oldest first
	Runs          Runs
	Altered       Altered
	Due           [3]DueRetransmission // what the newest NAKs ask for, and the requester has not made; the newest first
	ImpliedNAKs   ImpliedNAKs
	NAK           RequesterNAK
	AfterNAK      AfterNAK
	WaitsTo       int64  // until when an RNR NAK may have the requester wait
	Timer         int64  // shortest time after which a request was retransmitted that nothing had answered and no NAK asked for; 0: none did
	NAKRestarts   uint16 // of SendQueue.Restarts, those that a NAK asked for
	AfterIdle     bool   // the newest retransmission began after a silence in which the queue pair may have been connected again

	// What the requester knows of the responses.
	Lack          Lack
	RetryReset    Mark   // Una when a response last acknowledged something and asked for what is missing too
	TakenBack     Mark   // Una before a NAK that was reported took it back
	Counted       Mark   // PSN of a response that counted the message that was open, or one that was not seen sent
	BeforeCapture uint64 // how many packets the responder had sent in the capture with its newest answer to what came before that

	// READs.
	ReadDispute *ReadDispute // nil: none
	LongerRead  Mark         // PSN after the responses to a READ that was retransmitted and asked for more than the first time
	Ignored     Ignored      // READ or atomic that was retransmitted while a PSN sequence NAK was pending, and has no answer yet
	Issues      Issues
	Ahead       Overcount // the newest response, if that counted READs after its PSN

	// What is wrong with requests.
	Jump     Jump
	Damage   Damage       // the newest packet that was damaged
	Cut      []packet.PSN // of the newest requests that came cut short, oldest first
	Paths    Paths        // its recoveries, which are counted at their end
	Foreign  packet.PSN   // of the newest request with the P_Key of another partition, with Valid
	Needless Mark         // Una when a packet before it was last found to be retransmitted
	Reported Reported
}

// Mark is a PSN that was noted, if Set.
type Mark struct {
	PSN packet.PSN
	Set bool
}

// Put notes a PSN.
func (m *Mark) Put(psn packet.PSN) { m.PSN, m.Set = psn, true }

// Is reports whether a PSN is the one that was noted.
func (m *Mark) Is(psn packet.PSN) bool { return m.Set && m.PSN == psn }

// Follows reports whether the PSN that was noted is after another.
func (m *Mark) Follows(psn packet.PSN) bool { return m.Set && psn.Before(m.PSN) }

// Clear forgets it.
func (m *Mark) Clear() { m.Set = false }

// Sighting is a request, and when it came.
type Sighting struct {
	PSN   packet.PSN
	At    int64  // 0: never
	Frame uint32 // low bits
}

// put notes request p, by a PSN.
func (g *Sighting) put(psn packet.PSN, p *packet.Packet) {
	g.PSN, g.At, g.Frame = psn, p.Time, uint32(p.Frame)
}

// met reports whether a NAK, seen at time now, may have met the request on its way: see SendQueue.Cross.
func (g *Sighting) met(now int64, answered uint32, within int64) bool {
	return g.At != 0 && within != 0 && (now-g.At < within || int32(g.Frame-answered) > 0)
}

// Altered is PSNs that were retransmitted one after the other, each with another request than before, which was reported.
type Altered struct {
	Run
	Trace packet.Trace // of the newest of those requests, or the one before it that SendQueue.History has given up for it
}

// ImpliedNAKs are responses that have overtaken others, at a tap near the requester.
type ImpliedNAKs struct {
	From  packet.PSN // oldest response that another has overtaken, while there are any
	At    int64      // when one last did
	Count uint16     // how many have, less those for which the requester has retransmitted
}

// RequesterNAK is what is special about the newest NAK that the requester got.
type RequesterNAK struct {
	Crossed   bool   // what it asks for may have been retransmitted already
	Refuted   bool   // it was reported: it asks for what had arrived
	RNRCopies uint8  // requests like the one that it refused as an RNR NAK and that may yet arrive, as they had been sent before it came
	Answered  uint32 // frame of the newest request that the responder had answered before it
}

// AfterNAK is the new requests after the newest NAK that may ignore it.
type AfterNAK struct {
	First *packet.Packet // without its payload
	Last  int64          // when the newest of those after an RNR or fatal NAK was sent
}

// Lack is what of the responses the requester may lack.
type Lack struct {
	Una   packet.PSN // while SendQueue.LacksResponse: the oldest PSN whose response the requester lacks. Later responses may have been discarded
	Since int64      // when LacksResponse was set; 0: before the responses were known
	Until int64      // until when the requester may lack answers that passed a tap near it, since it has retransmitted what they acknowledge
}

// Issues are READs that were retransmitted.
type Issues struct {
	Pending []Issue // the response to which has not begun, oldest first
	Past    []Issue // the newest of all PSNs that READs were ever reissued from, each once

	Scattered []Scattered
}

// Jump is requests that are far from the stream.
type Jump struct {
	Requests []packet.Packet // SendQueue.Jump and the requests that continue from it, if there are any; without their payloads
	NAKed    Mark            // PSN after those that were NAKed and reported
}

// Reported is what was reported of a requester, and since when nothing has changed.
type Reported struct {
	Silent     int64      // SendQueue.TimerStart when it was last reported that nothing was retransmitted; 0: never
	Unanswered packet.PSN // SendQueue.Una when it was last reported that it has no answer, with Valid
}

// Overcount is a response with an MSN that counts READs or atomics after its PSN.
type Overcount struct {
	Time     int64
	Frame    uint64
	Tap      uint16
	PSN      packet.PSN
	MSN      uint32
	Expected uint32 // MSN that counts up to its PSN
	IPID     uint16
	Opcode   packet.Opcode
	Set      bool
}

// Ignored is a READ or atomic that may be ignored.
type Ignored struct {
	First, Last   packet.PSN // its PSNs
	NakPSN        packet.PSN // of the NAK
	Retransmitted bool       // it was retransmitted once more
	LaterAnswered bool       // a request after it was answered
	Request       *packet.Packet
}

// Set reports whether there is one.
func (d *Ignored) Set() bool { return d.Request != nil }

// NoteRetransmitted notes that request p was retransmitted.
func (s *SendQueue) NoteRetransmitted(p *packet.Packet) {
	r := s.Lost()
	r.Retransmitted.put(s.High, p)
	if !r.Runs.extend(p) {
		r.Runs.begin(p, s.Last.Time)
	}
}

// ExtendAltered notes that the PSN of an old request was retransmitted with another one, at time now. It reports whether that goes on what the packet before it began.
func (s *SendQueue) ExtendAltered(psn packet.PSN, now int64) bool {
	o := &s.Lost().Altered.Run
	if o.At != 0 && o.To == s.Last.PSN && psn == o.To.Add(1) {
		o.To, o.At = psn, now
		return true
	}
	*o = Run{psn, psn, now, s.Last.Time}
	return false
}

// IsAltered reports whether the request at psn was retransmitted as another one among those that last did.
func (s *SendQueue) IsAltered(psn packet.PSN) bool {
	return s.Recovery != nil && s.Recovery.Altered.At != 0 && psn.In(s.Recovery.Altered.From, s.Recovery.Altered.To)
}

// IsNewestAltered reports whether the request at psn is the newest of those.
func (s *SendQueue) IsNewestAltered(psn packet.PSN) bool {
	return s.Recovery != nil && s.Recovery.Altered.At != 0 && psn == s.Recovery.Altered.To
}

// NoteNetworkCopy notes that the path made a copy of request p.
func (s *SendQueue) NoteNetworkCopy(p *packet.Packet) {
	r := s.Lost()
	r.Retransmitted.put(s.High, p)
	r.Runs.begin(p, s.Last.Time)
	r.Runs.begin(p, s.Last.Time)
}

// Reorder notes that requests have come in another order than that of their PSNs: which messages there are up to the newest of them, and how many,
// is not certain.
func (s *SendQueue) Reorder() {
	r := s.Lost()
	r.Reordered.Put(s.High)
}

// IsReordered reports whether the message at psn, or how many there are before it, is not certain.
func (s *SendQueue) IsReordered(psn packet.PSN) bool {
	return s.Recovery != nil && s.Recovery.Reordered.Follows(psn)
}

// EverReordered reports whether that was ever so: the count of all messages may be wrong for good.
func (s *SendQueue) EverReordered() bool { return s.Recovery != nil && s.Recovery.Reordered.Set }

// CountRNRCopies notes that an RNR NAK refused the request at psn, whether that is the first NAK for it, and whether another refused it just before: of
// those like it that came since a time, all but one may yet reach the responder, and of those that were retransmitted since it last answered anything: it may
// have been stopped.
func (s *SendQueue) CountRNRCopies(psn packet.PSN, since, answered int64, first, again bool) {
	r := s.Recovery
	if r == nil {
		return
	}
	if !again {
		r.NAK.RNRCopies = 0
	}
	for _, run := range r.Runs.List {
		if run.At > answered && psn.In(run.From, run.To) {
			r.NAK.RNRCopies++
			if first && run.Before > since { // the one that came first is among them
				r.NAK.RNRCopies++
				first = false
			}
		}
	}
	r.NAK.RNRCopies -= min(r.NAK.RNRCopies, 1)
}

// TakeRNRCopy reports whether one more request like the one that was refused may have reached the responder since.
func (s *SendQueue) TakeRNRCopy() bool {
	if s.Recovery == nil || s.Recovery.NAK.RNRCopies == 0 {
		return false
	}
	s.Recovery.NAK.RNRCopies--
	return true
}

// MayBeRetransmitted reports whether the request at psn, or one before it that it waits for, may have been retransmitted.
func (s *SendQueue) MayBeRetransmitted(psn packet.PSN) bool {
	return s.Recovery != nil && s.Recovery.Retransmitted.At != 0 && psn.Before(s.Recovery.Retransmitted.PSN)
}

// NoteLate notes that request p, which was missing, came after a later one.
func (s *SendQueue) NoteLate(p *packet.Packet) {
	r := s.Lost()
	r.Late.put(p.PSN, p)
}

// Cross notes whether the newest NAK, of psn and seen at time now, may have met the request that it asks for on its way: one that was retransmitted, or
// filled the gap, less than within before it, or after frame answered: what came after the newest request that the responder has answered may wait in its
// queue.
func (s *SendQueue) Cross(psn packet.PSN, now int64, answered uint32, within int64) {
	if r := s.Recovery; r != nil {
		r.NAK.Refuted, r.NAK.Answered = false, answered
		r.NAK.Crossed = s.MayBeRetransmitted(psn) && r.Retransmitted.met(now, answered, within) || psn == r.Late.PSN && r.Late.met(now, answered, within)
	}
}

// NoteRetryReset notes that a response asks for what is missing and may acknowledge something too.
func (s *SendQueue) NoteRetryReset(una packet.PSN) {
	r := s.Lost()
	r.RetryReset.Put(una)
}

// TakeRetryReset reports, once, whether what is retransmitted was asked for by the response that acknowledged all before it: that may have filled the
// retry counter again after one was taken from it.
func (s *SendQueue) TakeRetryReset() bool {
	r := s.Recovery
	if r == nil || !r.RetryReset.Is(s.Una) {
		return false
	}
	r.RetryReset.Clear()
	return true
}

// HasCrossed reports whether the newest NAK was such a one.
func (s *SendQueue) HasCrossed() bool { return s.Recovery != nil && s.Recovery.NAK.Crossed }

// mostExpectedPSNs is how many PSNs are kept that were expected when later ones came.
const mostExpectedPSNs = 32

// CountsAhead reports whether the newest response counted READs or atomics after its PSN.
func (s *SendQueue) CountsAhead() bool { return s.Recovery != nil && s.Recovery.Ahead.Set }

// NoteExpected notes that a request came while an earlier PSN was expected.
func (s *SendQueue) NoteExpected(expected packet.PSN) {
	r := s.Lost()
	n := len(r.ExpectedPSNs)
	if n > 0 && r.ExpectedPSNs[n-1] == expected {
		return
	}
	if n == mostExpectedPSNs {
		r.ExpectedPSNs = slices.Delete(r.ExpectedPSNs, 0, 1)
	}
	r.ExpectedPSNs = append(r.ExpectedPSNs, expected)
}

// MayBeReordered reports whether the request at psn may have come after a later one: it did, or so many did that not all are kept.
func (s *SendQueue) MayBeReordered(psn packet.PSN) bool {
	r := s.Recovery
	if r == nil {
		return false
	}
	return slices.Contains(r.ExpectedPSNs, psn) || len(r.ExpectedPSNs) == mostExpectedPSNs && !psn.After(r.ExpectedPSNs[0])
}

// NAKMeantLater reports whether the newest NAK, seen at time at, was reported, and requests were retransmitted since: not those that it asks for, so that it meant
// a later PSN.
func (s *SendQueue) NAKMeantLater(at int64) bool {
	r := s.Recovery
	return r != nil && r.NAK.Refuted && max(r.Retransmitted.At, r.Late.At) > at
}

// Lost returns the recovery of the send queue.
func (s *SendQueue) Lost() *Recovery {
	if s.Recovery == nil {
		s.seldom().Recovery = new(Recovery)
	}
	return s.Recovery
}

// MayLackResponses reports whether the requester may lack answers that passed a tap near it, as it did when it last retransmitted what they acknowledge.
func (s *SendQueue) MayLackResponses(now int64) bool {
	return s.Recovery != nil && now < s.Recovery.Lack.Until
}

// WaitTo notes until when an RNR NAK may have the requester wait.
func (s *SendQueue) WaitTo(until int64) {
	r := s.Lost()
	r.WaitsTo = max(r.WaitsTo, until)
}

// Waits is until when an RNR NAK may have the requester wait; 0: there was none.
func (s *SendQueue) Waits() int64 {
	if s.Recovery == nil {
		return 0
	}
	return s.Recovery.WaitsTo
}

// patience is how long a requester that lacks a response may wait before it must have got it otherwise.
const patience = int64(60e9)

// ReportedSilent reports whether it was reported that nothing was retransmitted since a time.
func (s *SendQueue) ReportedSilent(since int64) bool {
	return s.Recovery != nil && s.Recovery.Reported.Silent == since
}

// ReportedUnanswered reports whether it was reported that the oldest request has no answer.
func (s *SendQueue) ReportedUnanswered() bool {
	return s.Recovery != nil && s.Recovery.Reported.Unanswered == s.Una|Valid
}
