package soft

import (
	"maps"
	"slices"

	"ibwitness/cq"
	"ibwitness/packet"
)

// Fault is a way in which a device can be at fault. Most spoil one packet; the others are deviations in what the device does, which look
// for their name where they belong.
type Fault struct {
	Text      string         // what it does, in one line
	Rule      string         // id of the rule that must catch it; empty: none does, only a conformance test
	Service   packet.Service // on which it shows
	Responder bool           // it is shown by the end that answers
	Needs     Need           // what must happen for it to show
	Verbs     bool           // the events of the device are needed to catch it
	Constant  bool           // it is in what the device can do at all, and shows whenever it can: Options.FaultAt and FaultAll say nothing of it
	// Also are the rules that are broken together with Rule where the fault shows, each with the reason.
	Also map[string]string

	match  func(p *packet.Packet) bool // packets that show it
	spoil  func(p *packet.Packet)      // makes it show in a packet that is complete; the checksums are made again
	raw    func(p *packet.Packet)      // the same, with the checksums unchanged
	drop   bool                        // the packet does not leave
	again  bool                        // it leaves twice
	later  int64                       // and once more so many nanoseconds later
	always bool                        // it shows every time

	which      func(e *cq.Completion) bool // completions that show it
	completion func(h *HCA, e cq.Completion, p put)
}

// Need is what must happen on the link or at the peer for a fault to show.
type Need uint8

// The needs.
const (
	Plain               Need = iota
	LostRequest              // a request is lost, and others come after it
	LostACK                  // an ACK is lost, and the requester's timer runs out
	LostRead                 // a READ response is lost
	NotReady                 // a message finds no receive request for a while
	NeverReady               // and never, with an RNR retry count of 2
	Silence                  // the peer falls silent, with a retry count of 2
	Credits                  // end-to-end credits are given, and few
	ManyReads                // more READs are posted than may be outstanding
	Refused                  // a request is refused for good
	Damaged                  // a request is damaged on its way
	IPv6                     // the link is IPv6
	Duplicate                // a request comes twice
	LateDuplicate            // a request comes twice, the second time just before the next
	Sparse                   // requests are far apart, so that each is answered before the next, or is retransmitted
	Burst                    // requests are posted at once
	Unsignaled               // some requests are not signalled
	Misuse                   // the consumer asks for what there is not
	ZeroLength               // WRITEs of no bytes, with an R_Key that is none
	Segments                 // SENDs have two segments
	SignalAll                // the queue pair signals all send requests
	TooLong                  // a SEND is longer than the receive request
	BadReceive               // a receive request has an L_Key that is none
	BadSend                  // a send request has an L_Key that is none
	Beyond                   // a READ goes beyond the end of a region
	ReadOnly                 // a WRITE names a region that may only be read
	GivenUp                  // a READ names a key that was invalidated
	Abuse                    // the consumer posts, sets and destroys what it must not
	InError                  // the peer sends while the queue pair is in the error state
	ReadyOnly                // work is posted in RTR
	Drained                  // work is posted in SQD
	DrainedUnasked           // the same, and the event of that was not asked for
	Fenced                   // requests after READs have a fence
	NotPermitted             // a READ comes to a queue pair that permits none
	WrongQKey                // a datagram has a wrong Q_Key
	LostMiddle               // a Middle packet of a SEND is lost
	LostFirst                // the First packet of a SEND is lost
	Privileged               // a datagram has a Q_Key with the high bit set
	NothingToInvalidate      // a SEND with Invalidate names a key that is none
	NoPersistence            // a FLUSH for persistence names a region that does not permit it
	Looks                    // the consumer of the second end looks at its memory
	Multicast                // datagrams go to a group that the peer has joined
	Handle                   // datagrams are sent by an address handle
	NoAtomicWrite            // an ATOMIC WRITE names a region that may only be read
	Armed                    // the completion queue is armed again and again
	ArmedSolicited           // that of the peer is, for solicited events
	ArmedTwice               // for the next completion, and then for solicited events
	Overrun                  // the completion queue has room for few, and is polled late
	Shared                   // receive requests are taken from a shared queue, whose limit is armed
	SharedFew                // the shared queue has as many requests as there are messages
	SharedInError            // the queue pair with the shared queue is brought to the error state
	Windows                  // memory windows are bound in ways that must be refused
	RefusedImmediate         // a WRITE with immediate data is refused
	RefusedUnsignaled        // a request that is not signalled is refused
	ShortResponse            // a READ response is too short
	LocalInvalidate          // a local invalidate is posted after a SEND that is not signalled
	ForeignHandle            // an address handle belongs to another protection domain
	ReadyLate                // the peer comes to RTS late
	ReadyThenSending         // work is posted in RTR, and RTS follows
	Broken                   // a request has an L_Key that is none, and others follow
	Restarted                // the queue pair is reset and brought to INIT
	LostReadAndSend          // a READ response is lost, and the SEND after that READ, and others come after it
	LostThenSilent           // an ACK is lost, and later the peer falls silent, with a retry count of 2
	NotReadyLong             // a message finds no receive request for a while, and its requester is asked to wait for 10.24 ms
	NotReadyTwice            // messages find no receive request, and later others none, with an RNR retry count of 1
	Attached                 // a queue pair is attached to a multicast group, and destroyed
	UnknownQueue             // a message on XRC names a shared receive queue that there is none of
	ForeignQueue             // a message on XRC names a shared receive queue of another domain
	Extended                 // there are FLUSHes and ATOMIC WRITEs
	ExtendedFlush            // there are FLUSHes
	ExtendedWrite            // there are ATOMIC WRITEs
	ExtendedLost             // the first responses to FLUSHes and ATOMIC WRITEs are lost
	ExtendedLooks            // there are ATOMIC WRITEs, and the peer's consumer looks at its memory
	ManyAtomicWrites         // more ATOMIC WRITEs are posted than may be outstanding
	TimerOff                 // an ACK is lost, and the timeout is 0
	SlowACK                  // the first ACK comes late, and the others are lost
	LostAgain                // a request is lost each time, and the retry count is 2
	Congested                // requests are far apart, and the network marks some
	CongestedBurst           // it marks all of them, and they are close together
	MarkedAnswers            // it marks the answers to READs
	MarkedCNPs               // it marks some requests, and CNPs
	NoWrites                 // an ATOMIC WRITE comes to a queue pair that permits no peer to write
	Tester                   // what no right peer sends, or what no rule tells of: conformance tests show it
)

// FaultNames returns the names of all faults, in order.
func FaultNames() []string { return slices.Sorted(maps.Keys(Faults)) }

// Faults are the faults that a device can have, by name.
var Faults = map[string]*Fault{}

// faults adds a part of the table.
func faults(part map[string]*Fault) bool {
	for name, f := range part {
		f.Also = consequences[name]
	}
	maps.Copy(Faults, part)
	return true
}

// faultState is how far the device's fault has come.
type faultState struct {
	is      *Fault
	left    int // occasions to pass by
	done    bool
	show    bool // the next frame shows it
	refused bool // the latest transition was
	held    func()
	kept    *packet.Packet
}

// due reports whether it is the turn of the fault, on an occasion to show it.
func (h *HCA) due() bool {
	if h.fault.done {
		return false
	}
	if h.fault.left > 0 {
		h.fault.left--
		return false
	}
	h.fault.done = !h.opt.FaultAll && !h.fault.is.always
	h.count.Faults++
	return true
}

// has reports whether the device has a fault, one that stays.
func (h *HCA) has(name string) bool { return h.fault.is != nil && h.opt.Fault == name }

// breaks reports whether the device has a fault and this is the occasion on which it shows it.
func (h *HCA) breaks(name string) bool {
	return h.fault.is != nil && h.opt.Fault == name && h.due()
}

// shows is breaks, where the next frame that leaves is the one that shows it.
func (h *HCA) shows(name string) bool {
	if h.breaks(name) {
		h.fault.show = true
		return true
	}
	return false
}

// spoil makes the fault show in a packet, if it is one of those that do and its turn has come. It returns how often the packet leaves.
func (h *HCA) spoil(p *packet.Packet) int {
	f := h.fault.is
	if f.match == nil || !f.match(p) || !h.due() {
		return 1
	}
	if f.drop {
		return 0
	}
	switch h.fault.show = true; {
	case f.raw != nil:
		f.raw(p)
	case f.spoil != nil:
		f.spoil(p)
		p.SealIPv4()
		p.SealICRC()
	}
	if f.later > 0 {
		h.fault.show = false
		late := *p
		h.anew(&late)
		h.opt.Clock.After(f.later, func() {
			h.fault.show = true
			h.emitFrame(&late)
		})
	}
	if f.again {
		h.emitFrame(p)
		h.anew(p)
		h.fault.show = true
	}
	return 1
}

// again makes a packet one that the device sends another time.
func (h *HCA) anew(p *packet.Packet) {
	h.port.ipID++
	p.IPID = h.port.ipID
	p.SealIPv4()
	p.SealICRC()
}

// become gives a packet another opcode, with the headers of that opcode.
func become(o packet.Opcode, more ...func(p *packet.Packet)) func(p *packet.Packet) {
	return func(p *packet.Packet) {
		p.Opcode = o
		if !p.Info().Payload && p.Info().Defined {
			p.Payload = nil
		}
		p.Fit()
		for _, m := range more {
			m(p)
		}
	}
}

// resize gives a packet a payload of n bytes, none where n is negative, all lengths right.
func resize(n int) func(p *packet.Packet) {
	return func(p *packet.Packet) {
		b := make([]byte, max(n, 0))
		copy(b, p.Payload)
		p.Payload = b
		p.Fit()
	}
}

// fn matches packets of some functions.
func fn(fns ...packet.Fn) func(p *packet.Packet) bool {
	return func(p *packet.Packet) bool { return slices.Contains(fns, p.Opcode.Fn()) }
}

// ackOf matches Acknowledges of a type of syndrome.
func ackOf(t packet.SyndromeType) func(p *packet.Packet) bool {
	return func(p *packet.Packet) bool { return p.Opcode.Fn() == packet.Acknowledge && p.Syndrome.Type() == t }
}

// psn and msn shift a number of a packet.
func psn(n int) func(p *packet.Packet) { return func(p *packet.Packet) { p.PSN = p.PSN.Add(n) } }

func msn(n int) func(p *packet.Packet) {
	return func(p *packet.Packet) { p.MSN = (p.MSN + uint32(n)) & packet.PSNMask }
}

func syndrome(s packet.Syndrome) func(p *packet.Packet) {
	return func(p *packet.Packet) { p.Syndrome = s }
}

func rc(f packet.Fn) packet.Opcode { return packet.Op(packet.RC, f) }
func uc(f packet.Fn) packet.Opcode { return packet.Op(packet.UC, f) }
func ud(f packet.Fn) packet.Opcode { return packet.Op(packet.UD, f) }
