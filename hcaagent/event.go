package hcaagent

import (
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// EventKind is what an Event tells.
type EventKind uint8

// The kinds.
const (
	EvCreateQP EventKind = iota
	EvModifyQP           // State is the state that the queue pair is brought to, or the one that it keeps
	EvDestroyQP
	EvCreateCQ
	EvDestroyCQ
	EvCreateSRQ
	EvDestroySRQ
	EvRegisterMR // Region
	EvDeregisterMR
	EvAllocateMW
	EvDeallocateMW
	EvPostSend
	EvPostReceive // to QP, or to SRQ where that is not zero
	EvCompletion  // polled from CQ
	EvNotify      // CQ told of itself
	EvArm         // the consumer armed CQ
	EvAsync       // an asynchronous event of QP, CQ or SRQ
	EvQueryQP     // State and Attr as the device gave them
	EvDevice      // Device: what the device can do
	EvResizeCQ    // Depth
	EvModifySRQ   // Depth is the limit that it is armed with
	EvCreateAH    // AH, PD, Vector
	EvDestroyAH
	EvAttachGroup // QP, Group
	EvDetachGroup
	EvModifyAH // AH, Vector
	EvMemory   // Region is a range that holds data with the CRC-32 Sum: the consumer looked, or Wrote it there
)

// Event is one thing that a consumer did with a device, or that the device told it. The soft HCA and the event log make them, the agent
// verifies them. What Kind does not need is zero.
type Event struct {
	Time int64 // nanoseconds since the Unix epoch, by the clock of the device's host
	Kind EventKind
	// Failed says that the verb returned an immediate error: nothing has changed.
	Failed bool
	State  qp.State
	Arm    Arm
	Async  Async
	Wrote  bool
	// Anonymous says that it is not known which ID a send request was posted with.
	Anonymous bool
	// Sum is the CRC-32 (IEEE) of the data of a send request when it was posted, or of what a completed receive, READ or atomic has put into
	// memory, where Summed; that of a datagram without its GRH.
	Summed bool
	Sum    uint32
	// Poll is the number of the call that gave the completion, where that is known: the completions of one call have waited together. Emptied
	// says that the call found no more than it gave.
	Poll    uint32
	Emptied bool

	QP    wqe.QP // its Addr names the device for every kind
	CQ    wqe.CQ
	SRQ   wqe.SRQ
	XRCD  wqe.XRCD // of an SRQ that is made; 0: none
	AH    wqe.AH
	PD    wqe.PD // that an address handle belongs to
	Depth int    // of a CQ, as the device made it, or SRQ
	Line  int    // of the log that it was read from, from 1 on; 0: none

	New        *NewQP
	Attr       *qp.Attr
	Send       *wqe.SendRequest
	Receive    *wqe.ReceiveRequest
	Completion *Completion
	Region     *Region
	Group      *packet.Addr // multicast
	Device     *Device
	Vector     *AddressVector
	// Head is the first 40 bytes of the memory that a completed datagram was received into, or nil.
	Head []byte
}

// Log is the events of one device in the order in which they happened.
type Log struct {
	Name   string // of its file
	Addr   packet.Addr
	Events []Event
	// Exact says that the clock of the events is that of the packets, and that a tap sees a packet when it is sent.
	Exact bool
	// More, where not nil, returns the events that have come since it was called before, after Events: the device is at work while its
	// packets are verified. The list is valid until the next call.
	More func() []*Event
	// Cut says that the log breaks off in its last line, when that is read.
	Cut bool
	// Err, where not nil, returns what was wrong with the log: nothing more comes from it.
	Err func() error
}

// Device is what a device can do, as far as its attributes bound what a consumer may ask for. Zero: not known.
type Device struct {
	MaxRdAtomic     uint8 // initiator depth of a queue pair
	MaxDestRdAtomic uint8 // responder resources of a queue pair
	PKeys           int   // entries of a P_Key table
	Ports           uint8
}

// Region is a memory region or window, with its keys.
type Region struct {
	PD         wqe.PD
	MR         wqe.MR // number of a region, or MW of a window, as BIND_MW names it; 0: not known
	MW         wqe.MW
	VA         uint64
	Length     uint64
	LKey, RKey uint32
	Access     wqe.Access
	Window     int // type of a memory window: 1 or 2; 0: a region
}

// Async is an asynchronous event (section 11.6.3).
type Async uint8

// The events.
const (
	AsyncNone Async = iota
	AsyncCommEstablished
	AsyncSQDrained
	AsyncLastWQE
	AsyncSRQLimit
	AsyncCQError
	AsyncQPFatal
	AsyncQPRequest // invalid request at the responder
	AsyncQPAccess  // access violation at the responder
	AsyncPathMigrated
)
