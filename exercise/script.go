package exercise

import (
	"ibwitness/fabricagent/sim"
	"ibwitness/link"
	"ibwitness/packet"
)

// Script is what is sent, when, and what happens to what comes. Times are nanoseconds.
type Script struct {
	File    string
	About   string
	Seed    uint64
	Until   int64    // 0: 10 ms, on an interface 10 s
	Packets uint64   // after so many the run ends
	Memory  uint64   // bytes of the capture ring
	Breaks  []string // rules that are broken on purpose, each by its id

	Link     *Link     // nil: on Ethernet
	Ethernet *Ethernet // nil: on a native link
	Streams  []Stream
}

// Link is a simulated native link, between the exerciser at port A and its partner at port B.
type Link struct {
	sim.LinkOptions // Ports[1] is the partner; its LID is there where it answers SMPs on a directed route by itself

	Exerciser Exerciser
	Partner   uint16 // its LID
}

// Exerciser is the port that the streams leave.
type Exerciser struct {
	LID    uint16 // 0: the port has the LID that the subnet manager gives it, with an agent that answers it
	Silent bool   // it sends no flow control packets but those of its streams
	Sinks  [link.Lanes]Sink
}

// Sink takes what comes on a virtual lane.
type Sink struct {
	Capacity int   // blocks of 64 bytes
	Drain    int64 // how long a block stays
}

// Ethernet is a wire of Ethernet: simulated, unless an interface is named for the run.
type Ethernet struct {
	Exerciser, Partner Station
	RoCEv1             bool
}

// Station is one end of a wire.
type Station struct {
	Addr packet.Addr
	MAC  [6]byte
}

// Stream is packets in their order.
type Stream struct {
	Name    string
	Line    int
	Partner bool // the partner sends it
	At      int64
	Gap     int64  // before each packet
	Jitter  int64  // up to so much more, by chance
	Rate    uint64 // bits a second at most; 0: any
	Repeat  uint64 // how often the steps are done; 0: without end
	Start   *Trigger
	Stop    *Trigger
	Steps   []Step
}

// Step is what a stream does next; of its kinds one is set.
type Step struct {
	Line    int
	Packet  *Packet
	Wait    *Trigger
	Timeout int64 // of Wait; 0: none
	Pause   int64
	Link    LinkCommand
	Sink    *SinkChange
}

// LinkCommand is what a step does to the link.
type LinkCommand uint8

// The commands.
const (
	NoCommand LinkCommand = iota
	LinkDown
	LinkUp
)

// SinkChange changes a sink while the run goes on.
type SinkChange struct {
	VL uint8
	Sink
}

// form is what a packet is made of.
type form uint8

const (
	transport form = iota // of an opcode
	management
	raw     // LNH 0
	rawIPv6 // LNH 1
	flow    // a link packet
	asBytes // any bytes
)

// Packet is a packet of a stream.
type Packet struct {
	Line     int
	Form     form
	Opcode   packet.Opcode
	To, From packet.Addr // From zero: the address of the port
	ToMAC    [6]byte     // zero: that of the other station
	FromMAC  [6]byte
	DGID     packet.Addr // on a native link; zero: no GRH
	SGID     packet.Addr
	VL       int // negative: that of its SL, 15 for subnet management
	Length   Value
	Fill     fill
	Payload  []byte // of Fill asGiven
	MAD      *MAD
	Set      []setField
	ICRC     checksum
	VCRC     checksum // and the LPCRC of a link packet
	Bad      bool
	End      link.End
	Cut      int  // bytes that are not sent at the end, CRCs among them
	Ignore   bool // credits
	Early    bool // it may leave before the port is active
	Gap      int64
	Count    uint64
	Flow     Flow
	Link     bool // of bytes: they are a link packet
}

// Flow is a flow control packet: its counts are right, but for what is said of them.
type Flow struct {
	VL          uint8
	Op          link.Op
	OpSet       bool // Op is as given, else as the state of the port has it
	FCTBS, FCCL count
}

// count is a count of blocks: that of the port, so much more than it, or as given.
type count struct {
	given bool
	n     int
}

// of is what is sent in place of the count of the port.
func (c count) of(right uint16) uint16 {
	if c.given {
		return uint16(c.n)
	}
	return uint16(int(right)+c.n) & (link.Modulus - 1)
}

// checksum is how a CRC is: right, the complement of the right one, or as given.
type checksum struct {
	wrong, given bool
	value        uint32
}
