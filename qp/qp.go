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
//	request with a later PSN: BeginGap, WidenGap  -            AfterGap  AfterGap        AfterGap        AfterGap        -
//	request in the gap: Rewind, FillGap           -            -         -               AfterGap, or    AfterGap, or    -
//	                                                                                     InOrder         InOrder
//	request after one whose PSN was wrong:        -            -         InOrder         InOrder         InOrder         -
//	Resume, CloseGap
//	acknowledged beyond the gap: CloseGap,        -            -         -               InOrder         Retransmitting  AfterJump
//	CatchUp
//	request with an earlier PSN:                  -            InOrder:  Retransmitting  Retransmitting  Retransmitting  -
//	BeginRetransmission                                        Join
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
	"unsafe"

	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// QP is one queue pair as the witness knows it: who it is, and what is known of the direction that it sends. Its half of the other one is Pair.RQ.
type QP struct {
	*Direction       // what it sends, and what its peer makes of that; see Pair.OneWay
	Attr       *Attr // what an HCA agent or the CM exchange said of it; nil: nothing

	Addr   packet.Addr
	Number uint32
	// Numbered is false while the QPN has not been learned: on RC and UC a packet names only its destination.
	Numbered bool
	Near     bool  // the tap is near this endpoint
	Reused   bool  // it is connected again, and another connection has its number
	bucket   uint8 // of the first end: see Pair.Between
}

// Direction is one direction of a connection: what a queue pair sends, and the receive queue that its requests go to. The order of the fields, here and in the structs
// within, is that of the lines of a processor's cache, 64 bytes each: what a usual packet needs is together, and none of it needs a pointer to be followed. TestLayout says where.
// What few directions have is beside it: see SendSeldom. NewDirection makes one.
type Direction struct {
	Flow Flow
	// What was sent, see Sums: as much as there is room for here.
	packets, bytes, messages uint32
	high                     uint16
	// Assumed is what Pair.Sees and Pair.Complete have affirmed while the packet at hand is verified; see Pair.Assumptions.
	Assumed rule.Assumption
	Cut     bool // the snap length cut a packet of it, which may have been a damaged one
	SQ      SendQueue
	Peer    ReceiveQueue
}

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
	Sequence   Sequence
	Joined     bool  // a request was seen, or the start PSN is known
	TimerStart int64 // newest time at which a request that demands a response left, or a response made progress
	Messages   Ring  // and History

	*SendSeldom
	FirstMSN      uint32 // MSN of the first response to it; with MSNFromEarlier where that does not count from the first message seen; 0: none
	Fresh         bool   // the start PSN is known and nothing was sent yet
	RdOver        bool   // too many READs and atomics are outstanding, and that was reported
	GapExplained  bool   // a packet of this QP had a wrong ICRC: a gap is explained
	LacksResponse bool   // the responses that the requester can have processed end before Una, at Recovery.Lack.Una
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
	Last LastResponse
	MSN  MSN
	EPSN packet.PSN // PSN that the next new request must carry, as far as the tap can tell
	*ReceiveSeldom
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
	FlowLabel uint32 // of datagrams the Q_Key: see QKey
	Reported  uint16 // which of them have been reported to change
	SL        uint8
	GRH       bool

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

// Pair is a connection: two QPs. Ends[0] sent the first packet seen. A usual packet needs the first line of it: TestLayout says what is there.
type Pair struct {
	Service     packet.Service
	Encap       packet.Encap
	Paired      bool  // both directions are known to belong together
	Lossy       bool  // the capture says, or its packets show, that the tap missed some of this connection
	Invalidated bool  // one end's SendQueue.InvRKey is set
	sealed      uint8 // by end, see Seal; and looked, headed and a number
	Guessed     Guess
	seldom      bool   // there is some of Seldom
	PMTU        uint32 // bytes; 0: not known
	leastPMTU   uint16
	oddPayload  uint16

	Ends [2]QP
	*Seldom
}

// Seldom is what few connections have. Verifiers read it; a Pair that has none of it has one that is zero, and is never written.
type Seldom struct {
	Closed        bool      // disconnected, as CM said: ClosedBy asked for it, as a message at ClosedAt shows
	NearWithdrawn [2]bool   // that the tap is near an end was withdrawn
	VLAN          [2]uint16 // tag of the first packet of each end that has one: see packet.Packet
	ClosedBy      packet.Addr
	ClosedAt      int64
	ClosedFrame   uint64
	// Misplaced is the PSN that belonged to the newest request that was reported for a wrong PSN, QP or service, with Valid.
	Misplaced packet.PSN
	// WrongService is a packet of another service to one of these QPs: a wrong opcode, or the first of another QP with the same number.
	WrongService *packet.Packet
	// Misdirected is a packet to a QP that nothing is known of, with the PSN that this connection expects next.
	Misdirected *packet.Packet
	CMTime      int64 // when CM announced it; 0: it did not
	Beside      any   // what who tells connections apart keeps of it
	early       []Early
	contexts    any
}

// nothing is the Seldom of all that have none of it. Invariant: it is zero.
var nothing = new(Seldom)

// some returns the Seldom of a connection, to be written.
func (c *Pair) some() *Seldom {
	if !c.seldom {
		c.seldom, c.Seldom = true, new(Seldom)
	}
	return c.Seldom
}

// Tagged notes the VLAN tag of a packet of an end; 0: it has none.
func (c *Pair) Tagged(from int, vlan uint16) {
	if vlan != 0 && c.VLAN[from] == 0 {
		c.some().VLAN[from] = vlan
	}
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

// Close says that CM has disconnected since a host asked for it, as message p shows: no packet of the connection is a usual one any more.
func (c *Pair) Close(by packet.Addr, p *packet.Packet) {
	s := c.some()
	s.Closed, s.ClosedBy, s.ClosedAt, s.ClosedFrame = true, by, p.Time, p.Frame
	for i := range c.Ends {
		if f := &c.Ends[i].Flow; f.State == FlowPlain {
			f.State = FlowKnown
		}
	}
}

// Reopen takes it back that CM has disconnected.
func (c *Pair) Reopen() {
	s := c.some()
	s.Closed, s.ClosedBy, s.ClosedAt, s.ClosedFrame = false, packet.Addr{}, 0, 0
}

// End returns which end sent a packet of the connection.
func (c *Pair) End(p *packet.Packet) int {
	if c.Ends[1].Addr == p.Src && (c.Ends[0].Addr != p.Src || c.Ends[0].Number == p.DestQP) {
		return 1
	}
	return 0
}

// RQ is the receive queue of an end. An address of a field taken in the ordinary way would read from the direction first; see Direction.Queues.
func (c *Pair) RQ(i int) *ReceiveQueue {
	return (*ReceiveQueue)(unsafe.Add(unsafe.Pointer(c.Ends[1-i].Direction), unsafe.Offsetof(Direction{}.Peer)))
}

// LastTime is the time of the newest packet that an end has sent.
func (c *Pair) LastTime(i int) int64 { return max(c.Ends[i].SQ.Last.Time, c.RQ(i).Last.Time) }

// In Pair.sealed, looked says that the connection is to be looked at, headed that the heads of its messages are, and the bits from number on by which of its looks.
const (
	looked = 4
	headed = 8
	number = 4
)

// Headed reports whether the heads of the messages of the connection are looked at.
func (c *Pair) Headed() bool { return c.sealed&headed != 0 }

// SetHeaded has the heads of the messages of the connection be looked at, or not.
func (c *Pair) SetHeaded(on bool) {
	c.sealed &^= headed
	if on {
		c.sealed |= headed
	}
}

// Looked reports whether the connection is to be looked at for what its ends leave undone.
func (c *Pair) Looked() bool { return c.sealed&looked != 0 }

// Look has the connection be looked at, by the next one of the few numbers that there are.
func (c *Pair) Look() (n uint8) {
	c.sealed = c.sealed&(1<<number-1) | looked | (c.sealed>>number+1)<<number
	return c.sealed >> number
}

// Awaits reports whether the connection is to be looked at by a number. It may be an earlier look of the same number, which does no harm.
func (c *Pair) Awaits(n uint8) bool { return c.Looked() && c.sealed>>number == n }

// Unlook says that it is not, as nothing of it is due, or that when is not known any more.
func (c *Pair) Unlook() { c.sealed &^= looked }

// Sealed reports whether an end has sent a packet with a good ICRC, and not been unsealed since.
func (c *Pair) Sealed(from int) bool { return c.sealed>>(from&1)&1 != 0 }

// Seal notes that an end has sent a packet with a good ICRC.
func (c *Pair) Seal(from int) { c.sealed |= 1 << (from & 1) }

// Unseal has the next packet of an end be none of the usual.
func (c *Pair) Unseal(from int) { c.sealed &^= 1 << (from & 1) }

// Break says that the count of messages may be wrong from here on: some were missed, or one was broken off.
func (s *SendQueue) Break() { s.Epoch++ }
