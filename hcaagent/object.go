package hcaagent

import "ibwitness/packet"

// QP names a queue pair: the address of its port and its number.
type QP struct {
	Addr packet.Addr
	QPN  uint32
}

// Objects of a device, by numbers that the device gives. Zero names none.
type (
	CQ   uint32 // completion queue
	SRQ  uint32 // shared receive queue
	XRCD uint32 // domain of XRC
	PD   uint32 // protection domain
	MR   uint32 // memory region
	MW   uint32 // memory window
	AH   uint32 // address handle
)

// Key is an R_Key or L_Key of the channel adapter with this address.
type Key struct {
	Addr  packet.Addr
	Key   uint32
	Local bool // an L_Key
}

// Segment is one element of a scatter or gather list (section 10.7.2.1).
type Segment struct {
	VA     uint64
	Length uint32 // bytes
	LKey   uint32
}

// Memory is a range of memory that a key opens.
type Memory struct {
	Key    Key
	VA     uint64
	Length uint64 // bytes
}
