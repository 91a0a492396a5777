package hcaagent

import (
	"ibwitness/cq"
	"ibwitness/packet"
)

// Log is the events of one device in the order in which they happened.
type Log struct {
	Name   string // of its file
	Addr   packet.Addr
	Events []cq.Event
	// Exact says that the clock of the events is that of the packets, and that a tap sees a packet when it is sent.
	Exact bool
	// Finer says that Exact was claimed, but the packets are stamped too coarsely to be put into one order with the events.
	Finer bool
	// Simulation says besides that one clock of a simulation stamps events, and frames at their last byte.
	Simulation bool
	// More, where not nil, returns the events that have come since it was called before, after Events: the device is at work while its
	// packets are verified. The list is valid until the next call.
	More func() []*cq.Event
	// Again, where not nil, takes back an event that More has returned, and that nobody refers to any more: its memory is used for a later one. It is not called while More is at work.
	Again func(*cq.Event)
	// Over says that More returns nothing any more.
	Over bool
	// Cut says that the log breaks off in its last line, when that is read.
	Cut bool
	// Complete says that the log tells of all to the end of the run, when that is read: it does not end early.
	Complete bool
	// Err, where not nil, returns what was wrong with the log: nothing more comes from it.
	Err func() error
}
