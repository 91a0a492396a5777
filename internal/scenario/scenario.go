// Package scenario reads scenario files, which describe channel adapters, their queue pairs, the work that they are given and the errors
// that a fabric makes, and runs them on virtual time. docs/simulate.md describes the format.
package scenario

import (
	"ibwitness/fabricagent/sim"
	"ibwitness/hcaagent/soft"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// Scenario is what a file describes.
type Scenario struct {
	File  string
	About string // what happens, in a sentence
	Seed  uint64
	Until int64 // nanoseconds after which the run ends, however much is left to do
	// Packets is after how many packets sent it ends, whatever is left to do. 0: a million, and 16 for each one that the work takes.
	Packets uint64
	Link    sim.Options
	Native  sim.LinkOptions // where the HCAs have LIDs; Ports is in each HCA
	Bounces []Bounce        // of that link
	HCAs    []HCA
	SRQs    []SRQ
	QPs     []QP
	Work    []Work
	// Errors are what the network does.
	Errors []Error
	Taps   []string // names of HCAs, or Middle
	Near   []string // names of HCAs

	tapsLine, nearLine, linkLine int
}

// Bounce is a native link that goes down and comes up again.
type Bounce struct{ At, For int64 }

// Middle is the name of the tap halfway between the ends.
const Middle = "middle"

// HCA is a channel adapter, a soft one.
type HCA struct {
	Name     string
	Line     int
	Addr     packet.Addr
	Memory   uint64 // bytes of the region that its peers reach
	Fault    string // by name; empty: none
	FaultAt  int    // at which opportunity
	FaultAll bool   // and at each later one
	AckEvery int
	AckDelay int64
	Credits  bool
	Window   int

	Congestion soft.Congestion
	Port       sim.LinkPort // of a native link
}

// SRQ is a shared receive queue.
type SRQ struct {
	Name  string
	Line  int
	HCA   string
	Depth int
	Limit int

	Domain string // of XRC
}

// QP is a queue pair.
type QP struct {
	Name, HCA, Peer, SRQ string
	Line                 int
	Type                 qp.Type
	Attr                 qp.Attr // Known: what the file says
	Depth                int     // of its completion queue
	Poll                 bool    // the consumer polls it
	SignalAll            bool
	Domain               string        // of an XRC target
	Groups               []packet.Addr // multicast
}

// Action is what a piece of work is.
type Action uint8

// The actions.
const (
	PostSend Action = iota
	PostReceive
	Modify
	Look // at the memory that peers reach
)

// Work is something that the consumer does, once or several times.
type Work struct {
	Line      int
	Action    Action
	QP, SRQ   string
	At, Every int64
	Repeat    int
	Lengths   []uint32 // of the segments

	Op       wqe.SendOp
	Flags    wqe.SendFlags
	Imm      uint32
	To       string      // datagrams, and XRC: the SRQ
	Group    packet.Addr // in place of To
	QKey     uint32      // datagrams; 0: that of the QP that it goes to
	Offset   uint64      // into the peer's memory
	BadKey   bool        // an R_Key that the peer does not have
	Spare    bool        // the R_Key of a region that the peer has registered for this QP
	Compare  uint64
	SwapAdd  uint64
	State    qp.State // Modify
	Place    uint8    // FLUSH
	FlushAll bool
}

// Error is an error of the network: what the mechanism between two ports does.
type Error struct {
	Line     int
	From, To string // HCAs
	AfterTap bool   // after the tap in the middle
	QP       string // destination
	PSN      *sim.PSNs
	Relative bool // PSN counts from the first one of the QP that sends it
	Ops      []string
	sim.Error
}
