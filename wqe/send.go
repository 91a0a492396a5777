// Package wqe is work requests and work queue elements: messages as they were posted, or as the wire shows that they must have been.
//
// It is the engine's own, without a promise to others, but for the work requests, handles and memory that packages agent and hcaagent name: these types are kept
// stable.
package wqe

import "ibwitness/packet"

// Op is the operation of a send work queue element.
type Op uint8

// The operations.
const (
	None Op = iota
	Send
	Write
	Read
	CmpSwap
	FetchAdd
	Flush
	AtomicWrite
)

func (o Op) String() string {
	return [...]string{"no message", "SEND", "RDMA WRITE", "RDMA READ", "CmpSwap", "FetchAdd", "FLUSH", "ATOMIC WRITE"}[o]
}

// ops is the operation that an opcode's function belongs to; responses belong to none.
var ops = [32]Op{
	packet.SendFirst: Send, packet.SendMiddle: Send, packet.SendLast: Send, packet.SendLastImm: Send,
	packet.SendOnly: Send, packet.SendOnlyImm: Send, packet.SendLastInv: Send, packet.SendOnlyInv: Send,
	packet.WriteFirst: Write, packet.WriteMiddle: Write, packet.WriteLast: Write, packet.WriteLastImm: Write,
	packet.WriteOnly: Write, packet.WriteOnlyImm: Write,
	packet.ReadRequest: Read, packet.CmpSwap: CmpSwap, packet.FetchAdd: FetchAdd,
	packet.Flush: Flush, packet.AtomicWrite: AtomicWrite,
}

// OpOf returns the operation that a request packet belongs to.
func OpOf(f packet.Fn) Op { return ops[f&31] }

// Responded reports whether the operation is answered by a response of its own, which an Acknowledge cannot replace:
// a READ response, or an ATOMIC Acknowledge (sections 9.4.4, 9.4.5, annex A19).
func (o Op) Responded() bool { return o >= Read }

// Atomic reports whether the operation is CmpSwap or FetchAdd.
func (o Op) Atomic() bool { return o == CmpSwap || o == FetchAdd }

// Flag is a set of facts about a message.
type Flag uint16

// The facts.
const (
	Whole      Flag = 1 << iota // every packet of the message was seen
	Ended                       // its last packet was seen
	Answered                    // its own response is complete (READ, atomics)
	AckWanted                   // a packet of it carried AckReq
	Miscounted                  // a request used a PSN that a READ had reserved, and that was reported
	Accused                     // a response was sent that passed over it, and reported
	Blamed                      // a finding on its length or answer was made: one is enough
	Reissued                    // a READ that was retransmitted, in whole or its tail
	Unsized                     // a READ whose PSN count waits for the path MTU: Last is not certain
	Gapped                      // of whose responses some were not seen
	Holed                       // that was Gapped once: some may still be in flight
	Told                        // was Answered before it was retransmitted
	Broken                      // another message began before it ended: whether its responder counts it is not known
	Guessed                     // its PSN is a guess: that on the wire was taken for wrong; or a READ after a gap, which may be the tail of another
	Scattered                   // a READ whose responses do not follow one another from First on: package qp keeps more of it
	Taken                       // a READ, all responses to which are taken to have come before their order was known: none is missing
)

// SendWQE is one message of a send queue: given by an HCA agent, or synthesised from the first packet of the message and
// compared with all later ones. Invariant: First … Last are the PSNs seen or reserved so far; a READ reserves one a response packet.
// It is 48 bytes, as very many queue pairs keep a few: what one operation needs and another does not shares a field.
type SendWQE struct {
	VA        uint64
	First     packet.PSN
	Last      packet.PSN
	Length    uint32 // DMALen of the RETH
	Progress  uint32 // see Got, RespNext and Orig
	RKey      uint32
	Ordinal   uint32 // how many messages of the send queue were seen before this one, modulo 2^24
	Frame     uint32 // low bits of the frame that began it
	RespFrame uint32 // low bits of the frame of its newest response
	Asked     uint32 // time of its newest packet, where that asks for an answer and was not retransmitted: see verifier.stamp; 0: it has, or does not
	Op        Op
	Epoch     uint8 // messages whose numbers are counted without a break between them have the same
	Flags     Flag
}

// Got returns how many bytes of payload of a SEND or WRITE were seen so far.
func (w *SendWQE) Got() uint32 { return w.Progress }

// Take counts n bytes of payload. Only those of a SEND or WRITE, which may take several packets, are kept.
func (w *SendWQE) Take(n uint32) {
	if !w.Op.Responded() {
		w.Progress += n
	}
}

// RespNext returns the PSN of the next response packet: that of all operations but those whose responses come one by one is at First.
func (w *SendWQE) RespNext() packet.PSN {
	if w.Op.Responded() && !w.Op.Atomic() {
		return packet.PSN(w.Progress)
	}
	return w.First
}

// AnswerCame reports whether the answer to the packet at psn has come, where a response has acknowledged it: to a READ or atomic that is its own response, and not one to what comes after it.
func (w *SendWQE) AnswerCame(psn packet.PSN) bool {
	switch {
	case w.Op != Read && !w.Op.Atomic():
		return true
	case w.RespFrame == 0:
		return false
	case w.Op.Atomic(), w.Flags&(Answered|Told) != 0 && !w.Has(Accused):
		return true
	}
	return !w.Has(Gapped) && w.RespNext().After(psn)
}

// AwaitResponse takes psn for that of the next response packet.
func (w *SendWQE) AwaitResponse(psn packet.PSN) {
	if w.Op.Responded() && !w.Op.Atomic() {
		w.Progress = uint32(psn)
	}
}

// Orig returns the folded original data that the first answer to an atomic returned.
func (w *SendWQE) Orig() uint32 { return w.Progress }

// Return notes it.
func (w *SendWQE) Return(orig uint32) { w.Progress = orig }

// Has reports whether all of f holds.
func (w *SendWQE) Has(f Flag) bool { return w.Flags&f == f }

// Packets returns how many packets a message of length bytes takes at this path MTU: at least one (rules RC-PSN-003, RC-LEN-005).
func Packets(length, pmtu uint32) int {
	if length <= pmtu {
		return 1
	}
	return int((uint64(length) + uint64(pmtu) - 1) / uint64(pmtu))
}

// ValidMTU reports whether n is one of the five path MTUs in bytes.
func ValidMTU(n int) bool {
	return n == 256 || n == 512 || n == 1024 || n == 2048 || n == 4096
}

// Answers reports whether a response with function f can answer the message.
func (w *SendWQE) Answers(f packet.Fn) bool {
	switch {
	case f == packet.AtomicAck:
		return w.Op.Atomic()
	case f == packet.Acknowledge:
		return true
	}
	return w.Op.Responded() && !w.Op.Atomic()
}

// MostPayload is the largest payload in bytes that a path MTU (0: not known) allows.
func MostPayload(mtu int) int {
	if mtu == 0 {
		return 4096
	}
	return mtu
}
