package cq

import (
	"hash/crc32"
	"slices"

	"ibwitness/packet"
	"ibwitness/rule"
)

// PacketRef is a packet that a message begins or ends with, or that a finding is about.
type PacketRef struct {
	Frame uint64
	Time  int64
	Pos   int // its number in the capture
	Tap   uint16
	Op    packet.Opcode
	PSN   packet.PSN
}

// Seen reports whether there is one.
func (w *PacketRef) Seen() bool { return w.Frame != 0 }

// Headers is what the headers of a message's packets say: those of the first packet, and immediate data and key of the last.
type Headers struct {
	VA             uint64
	RKey, DMALen   uint32
	Swap, Compare  uint64
	Imm, InvRKey   uint32
	SE             bool // solicited event, of any packet
	HasImm, HasInv bool
	QKey, SrcQP    uint32
	FETH           uint32
	GRH            bool
	Net            *NetHeader // of a datagram
	SRQ            uint32     // XRC: the shared receive queue
}

// NetHeader is what the network header of a datagram says.
type NetHeader struct {
	Src, Dst packet.Addr
	DestQP   uint32
	TClass   uint8
	HopLimit uint8
	V4       bool // with an IPv4 header that has no options: memory has no room for them
	PKey     uint16
	Front    uint32 // CRC-32 of the first 40 bytes of the payload
	Group    bool   // Dst is a multicast group
	must     bool   // each queue pair that has joined the group receives it
}

// Message is a message that came whole, or what there is of it when nothing more of it can come.
type Message struct {
	Headers
	First    int64 // ordinal of its first packet
	Packets  int   // PSNs that it has
	Op       packet.Opcode
	Length   uint32 // bytes of payload; of a READ, that it asks for
	CRC      uint32 // CRC-32 of the payload
	Begin    PacketRef
	End      PacketRef
	Partial  bool
	Cut      bool      // of its payload not all was captured
	Mixed    bool      // a PSN of it was retransmitted with another packet, or may have been: it is not known which the responder took
	Other    bool      // so did that of a READ, as one for other memory
	Response *Response // to a READ or an atomic
	Data     []byte    // of a WRITE, where it is kept (Requests.KeepsData); else nil
	used     bool      // a receive completion is of it
	departs  bool      // it is another than its work request asks for, or than its responder owes, as was reported
	unlike   bool      // and the two differ in whether they take a receive request

	held          bool // the response is what memory of the responder held, for certain
	wrongInMemory bool // the requester was told to have other data in memory, which is not proven
}

// Last is the ordinal of the last packet.
func (m *Message) Last() int64 { return m.First + int64(m.Packets) - 1 }

// brought is the class of a finding that rests on what a message has brought to its receiver. Where it is another than its work request asks for, the packets may be changed, and the
// receiver have had those of the request.
func (a *Agent) brought(m *Message) (class rule.Class, why string) {
	if m.departs || slices.Contains(a.departed[:], m.Begin.Pos) && m.Begin.Pos != 0 {
		return rule.Unproven, "; the message is another than its work request asks for: it may have been changed before or after the tap"
	}
	return rule.Violation, ""
}

// Response is the response to a READ or an atomic: data, or what memory held before.
type Response struct {
	Packets []ResponsePacket // kept by who assembles the response
	Seen    int              // how many of them came
	Begin   PacketRef        // its first packet
	At      PacketRef        // the packet that made it whole
	Orig    uint64
	CRC     uint32
	Length  uint32
	Whole   bool
	Cut     bool // of its payload not all was captured
	// Repeated is how many of its packets have come once more, with the same data.
	Repeated int
	Mixed    bool // a part was retransmitted with other data, since memory had changed: it is not known which the requester took

	Data []byte      // of a READ, where it is kept; else nil
	Refs []PacketRef // its packets, where Data is kept
}

// whole reports whether there is a response and all of it has come.
func (r *Response) whole() bool { return r != nil && r.Whole }

// ResponsePacket is one packet of a response.
type ResponsePacket struct {
	CRC     uint32 // of the payload; where it follows, of that of the packets before it as well
	Length  uint32
	Seen    bool
	Follows bool // the packet before it came before it
	Again   bool // it came once more, with the same data
}

// NAK is a negative acknowledgement, or a response that does not fit its request.
type NAK struct {
	Ord      int64
	Syndrome packet.Syndrome
	At       PacketRef
}

func sum(b []byte) uint32 { return crc32.ChecksumIEEE(b) }
