// Package coverage is what of the protocol a run has shown: opcodes, syndromes, message lengths, path MTUs, wraps of sequence numbers and recoveries from errors, by
// service. Rules count for themselves, in rule.Recorder. Items says which there are, in the words of the specification.
//
// Others may import it: its API is kept stable.
package coverage

import (
	"math/bits"

	"ibwitness/packet"
)

// Counts is how often a run has shown each thing. Whatever was damaged, or seen by another tap before, is not counted. The zero value has counted nothing.
type Counts struct {
	Opcodes   [256]uint64                        // packets
	Syndromes [Services][256]uint64              // packets with an AETH
	Wraps     [Services][NumWraps]uint64         // see Wrap
	PMTU      [Services][NumPMTUs]uint64         // messages of more than one packet, by path MTU: 256 bytes, 512, …
	Lengths   [Services][NumOps][NumSizes]uint64 // messages
	Pads      [Services][NumOps][4]uint64        // messages that are not empty, by the pad bytes of their last packet
	Paths     [Services][NumPaths]uint64         // recoveries from beginning to end
}

// Services is how many transport services are counted, by number.
const Services = packet.XRC + 1

// NumPMTUs is how many path MTUs there are: 256, 512, 1024, 2048 and 4096 bytes.
const NumPMTUs = 5

// Op is an operation that carries a message.
type Op uint8

// The operations.
const (
	Send Op = iota
	Write
	Read
	NumOps
)

func (o Op) String() string { return [...]string{"SEND", "RDMA WRITE", "RDMA READ"}[o] }

// OpOf returns the operation of a request, and false for what carries no message.
func OpOf(f packet.Fn) (Op, bool) {
	switch {
	case f <= packet.SendOnlyImm, f == packet.SendLastInv, f == packet.SendOnlyInv:
		return Send, true
	case f <= packet.WriteOnlyImm:
		return Write, true
	case f == packet.ReadRequest:
		return Read, true
	}
	return 0, false
}

// Size is a class of message lengths.
type Size uint8

// The classes. One is counted where the path MTU shows it: without it, lengths from 255 bytes on are of none.
const (
	Empty     Size = iota
	UnderWord      // 1 to 3 bytes
	UnderPMTU      // 4 bytes or more, and less than the path MTU by more than one
	PMTULess1      // one byte less than the path MTU
	ExactlyPMTU
	PMTUPlus1
	Multiple // of the path MTU, two at least
	Rest     // more than the path MTU and one, and the last packet is not full
	Large    // above 64 KiB
	NumSizes
)

// LargeSize is the length, in bytes, that a Large message is above.
const LargeSize = 64 << 10

// SizeOf returns the class of a message of length bytes on a path MTU, in bytes; 0: that is not known. It returns false where the class is not known then.
func SizeOf(length, pmtu uint32) (Size, bool) {
	switch {
	case length == 0:
		return Empty, true
	case length < 4:
		return UnderWord, true
	case length > LargeSize:
		return Large, true
	case pmtu == 0:
		return UnderPMTU, length < 255
	case length < pmtu-1:
		return UnderPMTU, true
	case length <= pmtu+1:
		return PMTULess1 + Size(length-(pmtu-1)), true
	case length%pmtu == 0:
		return Multiple, true
	}
	return Rest, true
}

// Message counts n messages of an opcode's operation and service, of length bytes each, on a path MTU, in bytes; 0: that is not known.
func (c *Counts) Message(o packet.Opcode, length, pmtu uint32, n uint64) {
	op, ok := OpOf(o.Fn())
	s := o.Service()
	if !ok || s >= Services || n == 0 {
		return
	}
	if size, ok := SizeOf(length, pmtu); ok {
		c.Lengths[s][op][size] += n
	}
	if length > 0 {
		c.Pads[s][op][-length&3] += n
	}
	if i := bits.Len32(pmtu) - 9; pmtu != 0 && length > pmtu && i >= 0 && i < NumPMTUs {
		c.PMTU[s][i] += n
	}
}

// Plain reports whether a message of length bytes, on a path MTU in bytes or 0, is of class UnderPMTU if it is one packet, and of class Rest if it is several. It says no of a few
// others of class Rest too.
func Plain(length, pmtu uint32) bool {
	most := min(pmtu<<8|254, LargeSize) // 254 where the path MTU is not known
	return length-4 <= most-4 && (length+1)&(pmtu-1) > 2
}

// Plain counts n messages for which Plain holds, by the opcode of their last packet: the last two bits of their lengths, and the path MTU, in bytes.
func (c *Counts) Plain(o packet.Opcode, bits int, pmtu uint32, n uint64) {
	length := uint32(4 + bits) // one of its class
	if o.Info().Last {
		length += pmtu
	}
	c.Message(o, length, pmtu, n)
}

// Packet counts a packet that its receiver takes for whole.
func (c *Counts) Packet(p *packet.Packet) {
	c.Opcodes[p.Opcode]++
	if s := p.Opcode.Service(); p.Has&packet.HasAETH != 0 && s < Services {
		c.Syndromes[s][p.Syndrome]++
	}
}

// Packets counts n packets of an opcode whose AETH, if they have one, is an ACK without a limit.
func (c *Counts) Packets(o packet.Opcode, n uint64) {
	c.Opcodes[o] += n
	if s := o.Service(); o.Info().Headers&packet.HasAETH != 0 && s < Services {
		c.Syndromes[s][packet.CreditInvalid] += n
	}
}

// Wrap counts that a sequence number of a service has passed from 2^24-1 to 0.
func (c *Counts) Wrap(s packet.Service, w Wrap) {
	if s < Services {
		c.Wraps[s][w]++
	}
}

// Recovered counts that a service has gone a path from its beginning to its end.
func (c *Counts) Recovered(s packet.Service, p Path) {
	if s < Services {
		c.Paths[s][p]++
	}
}

// Wrap is where a sequence number wraps.
type Wrap uint8

// The places.
const (
	RequestWrap  Wrap = iota // PSN of requests
	ResponseWrap             // PSN of responses
	SendWrap                 // PSN within a SEND of several packets
	WriteWrap                // PSN within an RDMA WRITE of several packets
	ReadWrap                 // PSN within the responses to an RDMA READ
	MSNWrap
	NumWraps
)

// Path is a recovery from an error, from its beginning to its end.
type Path uint8

// The paths.
const (
	SequenceNAK       Path = iota // PSN sequence NAK, go back, acknowledged
	RNRNAK                        // RNR NAK, wait, retransmission, acknowledged
	Timeout                       // no response, retransmission, acknowledged
	DuplicateMessage              // ACK lost, duplicate SEND or RDMA WRITE, acknowledged again
	DuplicateRead                 // duplicate RDMA READ, answered again
	PartialRead                   // RDMA READ asked again for what is left, answered to its end
	ImpliedNAK                    // a response is missing, and a later one shows it: request again, answered to its end
	DuplicateAtomic               // duplicate atomic, answered again
	RetriesExhausted              // no response to the last retry: nothing more is sent
	RNRExhausted                  // RNR NAK to the last RNR retry: nothing more is sent
	InvalidRequest                // NAK invalid request: nothing more is sent
	RemoteAccess                  // NAK remote access error: nothing more is sent
	RemoteOperational             // NAK remote operational error: nothing more is sent
	DroppedMessage                // UC: packet lost, its message is dropped, the next one is taken
	Resynchronised                // RD: RESYNC, acknowledged
	NumPaths
)

// Add adds what another has counted.
func (c *Counts) Add(o *Counts) {
	for i := range c.Opcodes {
		c.Opcodes[i] += o.Opcodes[i]
	}
	for s := range Services {
		add(c.Syndromes[s][:], o.Syndromes[s][:])
		add(c.Wraps[s][:], o.Wraps[s][:])
		add(c.PMTU[s][:], o.PMTU[s][:])
		add(c.Paths[s][:], o.Paths[s][:])
		for op := range NumOps {
			add(c.Lengths[s][op][:], o.Lengths[s][op][:])
			add(c.Pads[s][op][:], o.Pads[s][op][:])
		}
	}
}

func add(a, b []uint64) {
	for i := range a {
		a[i] += b[i]
	}
}
