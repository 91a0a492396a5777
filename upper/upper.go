// Package upper names what an operation of the transport was for: the command of the protocol above it, as far as that protocol has its headers on the wire. It
// recognizes the protocol of a connection, follows which commands have begun and have not ended, and knows which memory a command has named, so that a READ or WRITE
// can be tied to the command that caused it. It judges nothing.
//
// A protocol is a Protocol, in a file of its own that names its specification, and an entry of protocols. Recognition is strict: what merely may be of a protocol is
// not called by its name.
package upper

import (
	"slices"

	"ibwitness/packet"
)

// Kind says which message it is.
type Kind uint8

// The kinds.
const (
	Send     Kind = iota // the first packet of a SEND
	Write                // the first packet of an RDMA WRITE
	WriteImm             // the last packet of an RDMA WRITE with immediate
)

// Message is a message of which a packet has been seen. A decoder keeps none of it.
type Message struct {
	From   int // the end that sent it: 0 or 1
	Kind   Kind
	Whole  bool   // the packet is all of the message
	Head   []byte // of a SEND: the payload of its first packet, as much as was captured
	Length int    // of a SEND: bytes of payload of its first packet
	PSN    packet.PSN
	Time   int64 // nanoseconds since the Unix epoch
	Frame  uint64
	Tap    uint16

	Invalidates bool // it is a SEND with Invalidate in one packet
	InvRKey     uint32

	VA     uint64 // of a WRITE
	RKey   uint32
	DMALen uint32
	Imm    uint32 // of a WriteImm, as a number in network byte order
}

// Cut reports whether the snap length cut a SEND.
func (m *Message) Cut() bool { return m.Kind == Send && len(m.Head) < m.Length }

// Fit says how much speaks for a message being of a protocol.
type Fit uint8

// How much speaks for it. Recognized is what it takes.
const (
	NoFit      Fit = 0
	Faint      Fit = 1 // it adds nothing by itself: answers with the same IDs have to confirm it
	Likely     Fit = 2 // what other traffic may happen to have
	Strong     Fit = 4 // several fields that do not depend on each other
	Recognized Fit = 8 // a magic number, or as much
	named      Fit = 6 // CM named the port
)

// Protocol is a protocol above the transport.
type Protocol interface {
	// Name is what it is called.
	Name() string
	// Ports are the ports of the RDMA IP CM service that its servers have.
	Ports() []uint16
	// Answered reports whether the peer answers commands with messages of their own as soon as it has done them.
	Answered() bool
	// Headers is how many bytes of a SEND have the headers that its decoder needs: where fewer were captured of one, commands are not followed.
	Headers() int
	// Fit reports how much speaks for a message, of a connection of which nothing is known, being of the protocol.
	Fit(m *Message) Fit
	// Decoder returns the decoder of one connection.
	Decoder() Decoder
}

// Decoder follows the messages of one connection. It allocates nothing.
type Decoder interface {
	// Message has t begin and end the commands that a message tells of. It reports whether the message is one of the protocol.
	Message(m *Message, t *Tracker) bool
	// Class is what the commands of one opcode or procedure have in common, and no others.
	Class(c *Command) (code uint32, arg uint64)
	// Name names the commands of the class of one.
	Name(c *Command) string
	// Describe names a command that it began.
	Describe(c *Command) string
	// Status says in words how a command has ended that has failed.
	Status(c *Command) string
}

// protocols are all that are known: first those that a SEND may be of, then those that a WRITE may be.
var (
	protocols = []Protocol{nvme{}, rpc{}, smb{}, iser{}, rds{}, nccl{}}
	ofSends   = protocols[:5]
	ofWrites  = protocols[5:]
)

// ByPort returns the protocol whose servers have a port of the RDMA IP CM service, or nil.
func ByPort(port uint16) Protocol {
	for _, p := range protocols {
		if slices.Contains(p.Ports(), port) {
			return p
		}
	}
	return nil
}

// leastHead is how many bytes a message has at least.
const leastHead = 16

// Plausible reports whether a SEND that begins so may be of any protocol. It is for the many that are of none.
func Plausible(head []byte) bool {
	if len(head) < leastHead {
		return false
	}
	b := (*[leastHead]byte)(head)
	return plausibleNVMe(b) || plausibleRPC(b) || plausibleSMB(b) || plausibleISER(b) || plausibleRDS(head)
}

// Recognize returns the protocol that a message of a connection of which nothing is known fits best, and how well; nil where it fits none.
func Recognize(m *Message) (Protocol, Fit) {
	if m.Kind == Send && !Plausible(m.Head) {
		return nil, NoFit
	}
	var best Protocol
	most, those := NoFit, ofSends
	if m.Kind != Send {
		those = ofWrites
	}
	for _, p := range those {
		if f := p.Fit(m); f > most {
			best, most = p, f
		}
	}
	return best, most
}
