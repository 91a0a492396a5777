package remote

import (
	"time"

	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// Device is a device under test. It is safe for concurrent use.
type Device interface {
	hcaagent.Control
	hcaagent.Query
	// Limits are the attributes of the device that bound those of its queue pairs.
	Limits() qp.Limits
	// Info describes the device, as it was when it was opened.
	Info() Info
	// Close destroys everything that was made, and leaves the device.
	Close() error
}

// Open opens a device. told takes its events, of the kinds cq.EvAsync and cq.EvNotify, in their order, until Close returns; it does not block.
type Open func(told func(*cq.Event)) (Device, error)

// Info describes a device and its port.
type Info struct {
	Device    string      // its name
	Driver    string      // and its version
	Firmware  string      // version; empty: none, or not known
	Port      uint8       // number of the port
	Addr      packet.Addr // that its queue pairs are named by
	GIDs      []GID       // of the port's table
	Active    bool        // the port is up
	State     string
	MTU       uint32 // of the port, bytes
	LID       uint16 // on InfiniBand
	Interface string // network interface of the port; empty: none
	MAC       [6]byte
}

// GID is an entry of the port's table.
type GID struct {
	Index int
	wqe.GID
}

// Times of a session. A client that is there says so by pings.
const (
	callTime = 5 * time.Second  // that a call may take, beside what the call itself waits
	dialTime = 15 * time.Second // that connecting may take
	pingTime = 2 * time.Second  // between pings
	idleTime = 10 * time.Second
	mostWait = time.Minute // that a call may wait for completions
)

// Bounds of what one call carries, and of a session.
const (
	mostMessage  = 1 << 20 // bytes
	mostData     = 1 << 17 // bytes of memory
	mostPolled   = 1024    // completions
	mostQueues   = 1 << 15 // that one call polls
	mostInFlight = 64      // calls
	mostMemory   = 1 << 30 // bytes of memory regions
	mostEvents   = 1 << 14 // that wait to be told
	mostTold     = 1024    // events of one notification
)

// version of the protocol. Both ends must have the same.
const version = 1
