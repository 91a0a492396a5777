// Package qp is queue pairs: types, states and their transitions (table T7), attributes, send queue, receive queue, and the pair of
// them that makes a connection.
//
// # The state of RC
//
// [SendQueue.State] is the state of a requester, [ReceiveQueue.State] that of the responder that it is connected to. Verifiers read the fields, and change them only
// by the transitions here, which are methods of a queue or of a group of its fields; those that name an event are, for a requester:
//
//	event, and its transition                     Unjoined     Fresh     InOrder         AfterGap        Retransmitting  AfterJump
//	first request of the capture: Join            InOrder      -         InOrder         InOrder         InOrder         InOrder
//	request with the next PSN: Begin, Advance     -            InOrder   InOrder         AfterGap, or    InOrder, or     -
//	                                                                                     InOrder: Gap    AfterGap: Gap
//	                                                                                     and High        and High
//	request with a later PSN: Gap.Begin, Widen    -            AfterGap  AfterGap        AfterGap        AfterGap        -
//	request in the gap: Rewind, Gap.Fill          -            -         -               AfterGap, or    AfterGap, or    -
//	                                                                                     InOrder         InOrder
//	request after one whose PSN was wrong:        -            -         InOrder         InOrder         InOrder         -
//	Resume, Gap.Close
//	acknowledged beyond the gap: Gap.Close,       -            -         -               InOrder         Retransmitting  AfterJump
//	CatchUp
//	request with an earlier PSN:                  -            InOrder:  Retransmitting  Retransmitting  Retransmitting  -
//	Retransmission.Begin                                       Join
//	request far from the stream: BeginJump        -            InOrder:  AfterJump       AfterJump       AfterJump       AfterJump
//	                                                           Join
//	the stream continues: CloseJump               -            -         -               -               -               InOrder, AfterGap, or
//	                                                                                                                     Retransmitting: as before
//	headers cut, or requests missed: Unjoin       Unjoined     Unjoined  Unjoined        Unjoined        Unjoined        Unjoined
//
// A gap stays open beneath a retransmission, and both beneath a PSN far from the stream. For a responder:
//
//	event, and its transition                     Expecting      SequenceNAKed  RNRNAKed                 Failed
//	PSN sequence NAK: TakeNAK                     SequenceNAKed  SequenceNAKed  SequenceNAKed            SequenceNAKed
//	RNR NAK: TakeNAK                              RNRNAKed       RNRNAKed       RNRNAKed                 RNRNAKed
//	fatal NAK: TakeNAK                            Failed         Failed         Failed                   Failed
//	the PSN that it asks for came: CloseNAK       -              Expecting      Expecting                -
//	response from that PSN on: CloseNAK           -              Expecting      Expecting                Expecting
//
// Failed is for good for the PSN that the NAK names and those after it: there a response is reported and changes nothing, unless it is a copy of the newest one, or shows
// that the syndrome was wrong.
//
// A transition that is not possible, such as to fill a gap where none is open, panics while Strict is set, as tests do.
//
// It is the engine's own, without a promise to others, but for the attributes, states and errors that packages agent and hcaagent name: these types are kept stable.
package qp

import (
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// QP is one queue pair as the witness knows it: who it is, and what is known of the directions that it sends and receives.
type QP struct {
	Addr   packet.Addr
	Number uint32
	// Numbered is false while the QPN has not been learned: on RC and UC a packet names only its destination.
	Numbered      bool
	Near          bool // the tap is near this endpoint
	NearWithdrawn bool // that the tap is near was withdrawn
	Reused        bool // it is connected again, and another connection has its number

	Attr       *Attr         // what an HCA agent or the CM exchange said of it; nil: nothing
	*Direction               // what it sends, and what its peer makes of that; see Pair.OneWay
	RQ         *ReceiveQueue // its half of the other direction
}

// Direction is one direction of a connection: what a queue pair sends, and the receive queue that its requests go to. The order of the fields, here and in the structs
// within, is that of the lines of a processor's cache, 64 bytes each: what a usual packet needs is together, and none of it needs a pointer to be followed. TestLayout says where.
type Direction struct {
	// Lone is what its responses have shown while the requests that they answer are not known.
	Lone LoneResponse
	_    [16]byte
	// Assumed is what Pair.Sees and Pair.Complete have affirmed while the packet at hand is verified; see Pair.Assumptions.
	Assumed rule.Assumption
	Cut     bool // the snap length cut a packet of it, which may have been a damaged one
	Copies  byte // of its packets, while the tap is near
	// OddPath counts the packets with another flow label or DSCP than the first of the flow, up to Many; it is Many as soon as one of them may have got that
	// elsewhere than at the queue pair.
	OddPath uint8
	// OddSL and OddGRH count the packets with another SL, and those with or without a GRH or with other GIDs in it, up to Many.
	OddSL, OddGRH uint8
	// OddOpcode is the opcode of the response that OddPath counts first, 0: it is a request. OddOpcodeAgrees says that a later one of its kind has had the flow
	// label and DSCP of the flow.
	OddOpcode       packet.Opcode
	OddOpcodeAgrees bool
	Flow            Flow // ends in the line of Sums
	Sums            Sums
	SQ              SendQueue
	Faults          Faults
	_               [4]byte
	Peer            ReceiveQueue
}

// LoneResponse is what is kept of the responses of a direction while the requests that they answer are not known.
type LoneResponse struct {
	NAKTime int64      // of the newest that was no positive one
	PSN     packet.PSN // of the newest positive one, or before which the newest refused
	Seen    bool       // PSN is set
}

// Many means as many or more in QP.OddPath.
const Many = 255

// IsOdd reports whether a packet differed from the others of the flow.
func (q *QP) IsOdd() bool { return q.Flow.Changes|q.OddPath|q.OddSL|q.OddGRH != 0 }

// Knows reports whether all of these attributes are known.
func (q *QP) Knows(k Known) bool { return q.Attr != nil && q.Attr.Has(k) }

// KnowsDirectly reports whether all of these attributes are known from the queue pair itself, and not only from CM.
func (q *QP) KnowsDirectly(k Known) bool { return q.Knows(k) && q.Attr.ByCM&k == 0 }

// SendQueue is the requester's half: the messages that it sent, and its PSNs.
type SendQueue struct {
	Last  LastRequest
	First packet.PSN // PSN at which the stream was joined
	Count uint32     // messages begun, modulo 2^24

	Next       packet.PSN // PSN of the next new request
	High       packet.PSN // PSN after the newest request ever seen; after Next while what follows a gap is being retransmitted
	Una        packet.PSN // oldest PSN that no response seen acknowledges. Invariant: not after High
	RdOut      uint16     // READs and atomics not yet answered
	Restarts   uint16     // retransmissions begun at Retransmission.From without progress
	Epoch      uint8      // raised where the count of messages may be wrong from here on
	Open       wqe.Op     // SEND or WRITE whose last packet is still to come
	Usual      bool       // there is nothing out of the ordinary about this send queue and the receive queue of the peer: see verifier.usual
	Limited    Limit      // what of the usual the attributes of the QPs have a word in, while Usual
	TimerStart int64      // newest time at which a request that demands a response left, or a response made progress
	Messages   Ring       // and History
	_          [8]byte

	Gap      Gap
	Credits  Credits
	InvRKey  uint32         // R_Key that the newest SEND with Invalidate named, while Pair.Invalidated; 0: none
	SRQ      uint32         // XRC: shared receive queue of the message that the newest request packet leaves open, with SRQSet
	FirstMSN uint32         // MSN of the first response to it; with MSNFromEarlier where that does not count from the first message seen; 0: none
	Recovery *Recovery      // see Lost; nil: nothing was lost yet
	Jump     *packet.Packet // newest packet, where its PSN is far from Next; without its payload

	ReadLen       uint32 // DMALen of a READ whose PSN count waits for the path MTU; 0: none
	Sequence      Sequence
	Joined        bool // a request was seen, or the start PSN is known
	Fresh         bool // the start PSN is known and nothing was sent yet
	RdOver        bool // too many READs and atomics are outstanding, and that was reported
	GapExplained  bool // a packet of this QP had a wrong ICRC: a gap is explained
	LacksResponse bool // the responses that the requester can have processed end before Una, at Recovery.Lack.Una

	Retransmission Retransmission
}

// Limit is a set of what attributes limit.
type Limit uint8

// The limits.
const (
	LimitedReads   Limit = 1 << iota // of READs and atomics, there may be one
	LimitedCredits                   // the responder gives no end-to-end credits
)

// MSNFromEarlier marks a SendQueue.FirstMSN that counts messages from before the capture.
const MSNFromEarlier = 1 << 31

// SRQSet marks SendQueue.SRQ as set.
const SRQSet = 1 << 31

// Responder is the state of a responder, as far as the capture shows it.
type Responder uint8

// The states.
const (
	Expecting     Responder = iota // takes the next request
	SequenceNAKed                  // sent a PSN sequence error: silent until the expected PSN arrives
	RNRNAKed                       // sent an RNR NAK: the request is to be retransmitted
	Failed                         // sent a fatal NAK: silent for good
)

func (r Responder) String() string {
	return [...]string{"Expecting", "SequenceNAKed", "RNRNAKed", "Failed"}[r]
}

// ReceiveQueue is the responder's half: what it expects, and what it said.
type ReceiveQueue struct {
	NAK NAK

	Last             LastResponse
	MSN              MSN
	EPSN             packet.PSN // PSN that the next new request must carry, as far as the tap can tell
	DuplicateTo      packet.PSN // SendQueue.High when the newest duplicate arrived
	State            Responder
	Unseen           uint8            // responses in a row to requests that were never seen
	DuplicateRequest bool             // a duplicate request arrived, whose answer may be to come: until one after DuplicateTo is answered
	Baseline         *packet.Packet   // response from which MSNs are counted, until a second one agrees
	Pending          *PendingResponse // what was left unsaid until the requester's timer ran out
}

// PendingResponse is a response that a responder owes, and has not sent until its requester retransmitted.
type PendingResponse struct {
	Request         packet.Packet // that demands it
	NAK             bool          // a PSN sequence NAK: Request came after a gap
	Missing         packet.PSN    // where the gap began
	Waited          int64         // how long the request had been unanswered when it was retransmitted, at RetransmittedAt
	RetransmittedAt int64
	NextPSN         packet.PSN // of the next new request when it was retransmitted: only what is before it can be answered twice
	AnsweredAt      int64      // when a response came, which may answer the request or its retransmission; 0: none did
	AnsweredBy      uint64     // frame of that response
	Requests        uint16     // requests that were retransmitted since, from the one that demands it on
	Answers         uint16     // responses to them
}

// Flow is what stays the same in all packets that a connected QP sends (rules NET-GRH-013, PKY-004, ROC-V2-018).
type Flow struct {
	GIDs         uint64 // of a GRH beside an LRH, folded
	QKey         uint32 // of the datagrams
	ReportedQKey uint32 // another one that was reported
	FlowLabel    uint32
	Reported     uint16 // which of them have been reported to change
	SL           uint8
	GRH          bool

	PKey    uint16
	SrcPort uint16
	TClass  uint8
	MigReq  bool
	State   FlowState
	Changes uint8 // packets with another P_Key than before, and in the upper four bits with another MigReq, on UD Q_Key; 15: as many or more
}

// FlowState says what is known of a flow.
type FlowState uint8

// The states.
const (
	FlowNew   FlowState = iota // no packet was seen
	FlowKnown                  // the first was
	FlowPlain                  // one that agreed with it could break no header rule
)

// Known reports whether a packet of the flow was seen.
func (f *Flow) Known() bool { return f.State != FlowNew }

// Sums is what a QP sent, for the table of connections.
type Sums struct {
	Packets, Bytes, Messages uint64
}

// Faults is what of that tells of something lost.
type Faults struct {
	Retransmissions, Duplicates uint32
	NAKs, SequenceNAKs, RNRNAKs uint32
}

func (s *Sums) add(o *Sums) {
	s.Packets, s.Bytes, s.Messages = s.Packets+o.Packets, s.Bytes+o.Bytes, s.Messages+o.Messages
}

func (f *Faults) add(o *Faults) {
	f.Retransmissions, f.Duplicates = f.Retransmissions+o.Retransmissions, f.Duplicates+o.Duplicates
	f.NAKs, f.SequenceNAKs, f.RNRNAKs = f.NAKs+o.NAKs, f.SequenceNAKs+o.SequenceNAKs, f.RNRNAKs+o.RNRNAKs
}

// Add counts a packet.
func (s *Sums) Add(p *packet.Packet) {
	s.Packets++
	s.Bytes += uint64(p.PayloadLen)
}

// Remove takes a packet that was counted back: it belongs to another connection.
func (s *Sums) Remove(p *packet.Packet) {
	s.Packets--
	s.Bytes -= uint64(p.PayloadLen)
}

// Pair is a connection: two QPs. Ends[0] sent the first packet seen.
type Pair struct {
	Service       packet.Service
	Encap         packet.Encap
	Closed        bool    // disconnected, as CM said
	Paired        bool    // both directions are known to belong together
	Lossy         bool    // the capture says, or its packets show, that the tap missed some of this connection
	Invalidated   bool    // one end's SendQueue.InvRKey is set
	Sealed        [2]bool // by end: it has sent a packet with a good ICRC
	PMTU          uint32  // bytes; 0: not known
	LeastPMTU     uint32  // bytes that the path MTU has at least, while it is not known: the greatest payload
	OddPayloadLen uint32  // payload of the newest First or Middle packet, where it is not PMTU
	// Misplaced is the PSN that belonged to the newest request that was reported for a wrong PSN, QP or service, with Valid.
	Misplaced packet.PSN
	// WrongService is a packet of another service to one of these QPs: a wrong opcode, or the first of another QP with the same number.
	WrongService *packet.Packet
	// Ways are the directions, by the end that sends: Ends[i].Direction is Ways[i], Ends[i].RQ is Ways[1-i].Peer. Join sets them.
	Ways [2]*Direction
	// Misdirected is a packet to a QP that nothing is known of, with the PSN that this connection expects next.
	Misdirected *packet.Packet
	CMTime      int64 // when CM announced it; 0: it did not

	Ends   [2]QP
	seldom *seldom // nil: there is none of it

	Guessed Guess
}

// seldom is what few connections have.
type seldom struct {
	early    []Early
	contexts any
}

// Guess says how certain it is that the two directions of a connection belong together.
type Guess uint8

// The certainties.
const (
	NotGuessed   Guess = iota
	Guessed            // a single PSN tells, among those of very many connections
	GuessedLate        // likewise, and the first packets of some of them were not judged
	Contradicted       // and something does not fit
)

// Early is a response that waits for the request after it in the capture before it is judged.
type Early struct {
	packet.Packet
	Sent  bool   // its PSN had been seen sent
	After uint16 // IPv4 identification of the response before it in the capture
}

// Reliable reports whether the connection acknowledges: RC, and XRC, which is RC but for who takes a message.
func (c *Pair) Reliable() bool { return c.Service.Reliable() }

// Complete reports whether nothing that the connection sent can have escaped the tap, as far as the capture shows.
func (c *Pair) Complete() bool {
	if c.Lossy {
		return false
	}
	c.Ends[0].Assumed |= rule.AssumesWhole
	return true
}

// Sees reports whether what passed at end i is proven: the tap is near it and missed nothing.
func (c *Pair) Sees(i int) bool {
	if !c.Ends[i].Near || c.Lossy {
		return false
	}
	c.Ends[0].Assumed |= rule.AssumesNear
	return true
}

// Cut reports whether the snap length cut a packet of the connection.
func (c *Pair) Cut() bool { return c.Ends[0].Cut || c.Ends[1].Cut }

// CMCut reports whether the snap length cut a packet by which CM gave attributes of the connection.
func (c *Pair) CMCut() bool {
	for i := range c.Ends {
		if a := c.Ends[i].Attr; a != nil && a.Cut {
			return true
		}
	}
	return false
}

// Assumptions is what was assumed while the packet at hand is verified.
func (c *Pair) Assumptions() rule.Assumption { return c.Ends[0].Assumed }

// ClearAssumed has Assumptions begin again.
func (c *Pair) ClearAssumed() { c.Ends[0].Assumed = 0 }

// Close says that CM has disconnected: no packet of the connection is a usual one any more.
func (c *Pair) Close() {
	c.Closed = true
	for i := range c.Ends {
		if f := &c.Ends[i].Flow; f.State == FlowPlain {
			f.State = FlowKnown
		}
	}
}

// End returns which end sent a packet of the connection.
func (c *Pair) End(p *packet.Packet) int {
	if c.Ends[1].Addr == p.Src && (c.Ends[0].Addr != p.Src || c.Ends[0].Number == p.DestQP) {
		return 1
	}
	return 0
}

// Break says that the count of messages may be wrong from here on: some were missed, or one was broken off.
func (s *SendQueue) Break() { s.Epoch++ }
