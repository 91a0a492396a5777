package cq

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
	EvEmpty       // the consumer polled CQ, and found nothing in it
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
	EvLost     // events of the device are missing here, or nothing more is told of it
	EvReset    // the device was reset: its queue pairs are gone
)

// Event is one thing that a consumer did with a device, or that the device told it. The verbs of the transport agent and the event log make them, the
// agent verifies them. What Kind does not need is zero.
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
	// memory, where Summed; that of a datagram without its GRH; or of what Region holds.
	Summed bool
	Sum    uint32
	// Data is the data of a send request when it was posted, from its first byte on, as far as it is known, or what Region holds. It is nobody's to change.
	Data []byte
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
	// After is the newest frame, by its number in the capture, that came before the event, where that has the same time; 0: none, or that is not known. It is for who
	// brings frames and events of one clock into their order, as Order is, by which events of different devices are that have the same time.
	After, Order uint64

	New        *qp.InitAttr
	Attr       *qp.Attr
	Send       *wqe.SendRequest
	Receive    *wqe.ReceiveRequest
	Completion *Completion
	Region     *wqe.Region
	Group      *packet.Addr // multicast
	Device     *qp.Limits   // what the device can do
	Vector     *wqe.AddressVector
	// Head is the first 40 bytes of the memory that a completed datagram was received into, or nil.
	Head []byte
}

// Kept reports whether anything may refer to an event after Agent and States have taken it. The most frequent are not kept.
func (e *Event) Kept() bool { return e.Kind != EvArm && e.Kind != EvNotify && e.Kind != EvEmpty }

// Precedes reports whether an event came before another one of the same time, where that is known.
func (e *Event) Precedes(f *Event) bool {
	return e.After < f.After || e.After == f.After && e.Order < f.Order
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
